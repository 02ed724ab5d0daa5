// SPDX-License-Identifier: BSD-3-Clause
#include "common/spied_work.h"

#include <utility>

#include "common/tensors.h"

namespace tdconf::adapter {

SpiedWork::SpiedWork(c10::intrusive_ptr<c10d::Work> inner,
                     std::shared_ptr<Transcript> transcript,
                     Transcript::Event event,
                     std::optional<at::Tensor> received)
    : Work(-1, inner->retrieveOpType()),
      inner_(std::move(inner)),
      transcript_(std::move(transcript)),
      event_(std::move(event)),
      received_(std::move(received)) {}

bool SpiedWork::wait(std::chrono::milliseconds timeout) {
  const bool succeeded = inner_->wait(timeout);
  if (succeeded) {
    transcript_->complete(event_, received_ ? digest_of(*received_) : std::nullopt);
  }
  return succeeded;
}

}  // namespace tdconf::adapter
