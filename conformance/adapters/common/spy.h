// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "common/transcript.h"

namespace tdconf::adapter {

/// What a backend cannot know of itself.
struct SpyOptions {
  /// The group's name in the case.
  std::string group;
  /// The members by group rank; those of a standalone group too.
  std::vector<std::int64_t> global_ranks;
};

/// A call at the boundary of c10d.
struct C10dCall {
  std::string event;
  at::Tensor tensor;
  std::optional<int> peer = std::nullopt;  // a group rank
  std::optional<int> tag = std::nullopt;
  bool receives = false;  // the contents of `tensor` come with the call
};

/// Describes a call that is not done as an EVENT of the protocol, without its `step`.
json event_of(const C10dCall& call, const SpyOptions& options);

/// A backend that notes each call in a transcript and hands it on to another backend, unchanged.
///
/// Order   a call is noted before it is handed on, and done once it was waited for with success; one
///         that the other backend refuses at once is not noted.
/// Errors  those of the other backend. c10::Error for a call that is not listed here, so that none
///         passes unseen.
/// Source  torch 2.15 c10d::ProcessGroupWrapper wraps a backend in the same way
class SpyBackend final : public c10d::Backend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  SpyBackend(c10::intrusive_ptr<c10d::Backend> inner,
             SpyOptions options,
             std::shared_ptr<Transcript> transcript);

  // Messages.
  WorkPtr send(Tensors& tensors, int dst, int tag) override;
  WorkPtr recv(Tensors& tensors, int src, int tag) override;

  // Collective calls.
  WorkPtr allgather(std::vector<Tensors>& outputs,
                    Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outputs,
                 Tensors& inputs,
                 const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs,
                  std::vector<Tensors>& inputs,
                  const c10d::ScatterOptions& options) override;
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;

  // Of the backend itself.
  const std::string getBackendName() const override { return inner_->getBackendName(); }
  c10::intrusive_ptr<Options> getBackendOptions() override { return inner_->getBackendOptions(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }
  c10d::ErrorType getError() override { return inner_->getError(); }
  void abort() override { inner_->abort(); }
  void shutdown() override { inner_->shutdown(); }

 private:
  /// Notes `call`, makes it with `hand_on`, and returns a Work that notes its end.
  template <typename HandOn>
  WorkPtr noted(const C10dCall& call, const HandOn& hand_on);

  const c10::intrusive_ptr<c10d::Backend> inner_;
  const SpyOptions options_;
  const std::shared_ptr<Transcript> transcript_;
};

}  // namespace tdconf::adapter
