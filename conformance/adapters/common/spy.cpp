// SPDX-License-Identifier: BSD-3-Clause
#include "common/spy.h"

#include <utility>

#include "common/spied_work.h"
#include "common/tensors.h"

namespace tdconf::adapter {
namespace {

const at::Tensor& own_tensor(const SpyBackend::Tensors& tensors) {
  return tensors.at(0);  // gloo takes exactly one
}

}  // namespace

json event_of(const C10dCall& call, const SpyOptions& options) {
  const auto sent = call.receives ? std::nullopt : digest_of(call.tensor);
  json event{{"event", call.event},
             {"group", options.group},
             {"peer", nullptr},
             {"dtype", dtype_name(call.tensor.scalar_type())},
             {"shape", call.tensor.sizes().vec()},
             {"bytes", call.tensor.numel() * call.tensor.element_size()},
             {"sha256", sent ? json(*sent) : json(nullptr)},
             {"done", false}};
  if (call.peer) event["peer"] = options.global_ranks.at(static_cast<std::size_t>(*call.peer));
  if (call.tag) event["tag"] = *call.tag;
  return event;
}

SpyBackend::SpyBackend(c10::intrusive_ptr<c10d::Backend> inner,
                       SpyOptions options,
                       std::shared_ptr<Transcript> transcript)
    : Backend(inner->getRank(), inner->getSize()),
      inner_(std::move(inner)),
      options_(std::move(options)),
      transcript_(std::move(transcript)) {}

template <typename HandOn>
SpyBackend::WorkPtr SpyBackend::noted(const C10dCall& call, const HandOn& hand_on) {
  const Transcript::Event event = transcript_->add(event_of(call, options_));
  const auto received = call.receives ? std::optional(call.tensor) : std::nullopt;
  try {
    return c10::make_intrusive<SpiedWork>(hand_on(), transcript_, event, received);
  } catch (...) {
    transcript_->drop(event);
    throw;
  }
}

SpyBackend::WorkPtr SpyBackend::send(Tensors& tensors, int dst, int tag) {
  return noted({.event = "send", .tensor = own_tensor(tensors), .peer = dst, .tag = tag},
               [&] { return inner_->send(tensors, dst, tag); });
}

SpyBackend::WorkPtr SpyBackend::recv(Tensors& tensors, int src, int tag) {
  return noted(
      {.event = "recv", .tensor = own_tensor(tensors), .peer = src, .tag = tag, .receives = true},
      [&] { return inner_->recv(tensors, src, tag); });
}

SpyBackend::WorkPtr SpyBackend::allgather(std::vector<Tensors>& outputs,
                                          Tensors& inputs,
                                          const c10d::AllgatherOptions& options) {
  return noted({.event = "all_gather", .tensor = own_tensor(inputs)},
               [&] { return inner_->allgather(outputs, inputs, options); });
}

SpyBackend::WorkPtr SpyBackend::gather(std::vector<Tensors>& outputs,
                                       Tensors& inputs,
                                       const c10d::GatherOptions& options) {
  return noted(
      {.event = "gather", .tensor = own_tensor(inputs), .peer = static_cast<int>(options.rootRank)},
      [&] { return inner_->gather(outputs, inputs, options); });
}

SpyBackend::WorkPtr SpyBackend::scatter(Tensors& outputs,
                                        std::vector<Tensors>& inputs,
                                        const c10d::ScatterOptions& options) {
  return noted({.event = "scatter",
                .tensor = own_tensor(outputs),
                .peer = static_cast<int>(options.rootRank),
                .receives = true},
               [&] { return inner_->scatter(outputs, inputs, options); });
}

SpyBackend::WorkPtr SpyBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const auto root = static_cast<int>(options.rootRank);
  return noted({.event = "broadcast",
                .tensor = own_tensor(tensors),
                .peer = root,
                .receives = root != getRank()},
               [&] { return inner_->broadcast(tensors, options); });
}

SpyBackend::WorkPtr SpyBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  return noted({.event = "reduce",
                .tensor = own_tensor(tensors),
                .peer = static_cast<int>(options.rootRank)},
               [&] { return inner_->reduce(tensors, options); });
}

SpyBackend::WorkPtr SpyBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  return noted({.event = "all_reduce", .tensor = own_tensor(tensors), .receives = true},
               [&] { return inner_->allreduce(tensors, options); });
}

}  // namespace tdconf::adapter
