// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "common/transcript.h"

namespace tdconf::adapter {

/// A pending call that notes in a transcript when it has been waited for with success; everything
/// else is what the other Work says.
class SpiedWork final : public c10d::Work {
 public:
  /// `received` is the tensor that the call fills, if its digest is still to be taken.
  SpiedWork(c10::intrusive_ptr<c10d::Work> inner,
            std::shared_ptr<Transcript> transcript,
            Transcript::Event event,
            std::optional<at::Tensor> received);

  bool wait(std::chrono::milliseconds timeout) override;

  bool isCompleted() override { return inner_->isCompleted(); }
  bool isSuccess() const override { return inner_->isSuccess(); }
  std::exception_ptr exception() const override { return inner_->exception(); }
  int sourceRank() const override { return inner_->sourceRank(); }
  std::vector<at::Tensor> result() override { return inner_->result(); }
  void synchronize() override { inner_->synchronize(); }
  void blockCurrentStream() override { inner_->blockCurrentStream(); }
  void abort() override { inner_->abort(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return inner_->getFuture(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override {
    return inner_->getFutureResult();
  }
  float getDuration() const override { return inner_->getDuration(); }
  std::uint64_t getSequencenumber() const override { return inner_->getSequencenumber(); }
  std::chrono::milliseconds getTimeout() const override { return inner_->getTimeout(); }
  std::uint64_t getCompletionKey() const override { return inner_->getCompletionKey(); }

 private:
  const c10::intrusive_ptr<c10d::Work> inner_;
  const std::shared_ptr<Transcript> transcript_;
  const Transcript::Event event_;
  const std::optional<at::Tensor> received_;
};

}  // namespace tdconf::adapter
