// SPDX-License-Identifier: BSD-3-Clause
#include "floor/transfer.h"

#include <vector>

namespace tdconf::bench::floor {

void Transfer::run() {
  std::vector<c10::intrusive_ptr<c10d::Work>> works;
  works.reserve(messages_.size());
  std::vector<at::Tensor> message(1);
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    message[0] = messages_[i];
    const int tag = static_cast<int>(i) * tag_step_;
    works.push_back(ranks_.rank == 0 ? ranks_.backend->send(message, 1, tag)
                                     : ranks_.backend->recv(message, 0, tag));
  }
  for (const auto& work : works) {
    work->wait();
  }
}

void Transfer::refill() {
  if (ranks_.rank == 0) {
    fill(messages_, 0);
  } else {
    poison(messages_);
  }
}

void Transfer::check() {
  if (ranks_.rank == 1) {
    check_filled(messages_, 0);
  }
}

}  // namespace tdconf::bench::floor
