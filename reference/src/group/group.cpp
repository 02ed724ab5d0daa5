// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/group.h>

#include <algorithm>

#include "codec/block.h"
#include "group/state.h"

namespace tdref {
namespace {

Connection& connection_of(Group::State& state) {
  TORCH_CHECK_VALUE(state.group_rank >= 0,
                    "Invalid process group specified: this rank is not a member");
  return state.connection;
}

at::Tensor room_for(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kByte && tensor.dim() == 1 ? new_block(tensor.numel())
                                                                : at::empty_like(tensor);
}

template <typename Call>
std::shared_ptr<MessageState> post_message(Group::State& state, const Call& call, What what) {
  return std::make_shared<MessageState>(
      post(connection_of(state), call), std::move(what), state.timeout, state.dropped);
}

}  // namespace

Group::Kind Group::kind() const {
  return state_->kind;
}
const std::string& Group::backend() const {
  return state_->backend;
}
bool Group::is_member() const {
  return state_->group_rank >= 0;
}
int Group::size() const {
  return state_->size;
}
std::chrono::milliseconds Group::timeout() const {
  return state_->timeout;
}

int Group::group_rank() const {
  TORCH_CHECK_VALUE(is_member(), "Invalid process group specified: this rank is not a member");
  return state_->group_rank;
}

const std::vector<int>& Group::global_ranks() const {
  TORCH_CHECK_VALUE(
      kind() != Kind::kStandalone,
      "the group is not registered: the ranks of a standalone group have no global ranks");
  return state_->global_ranks;
}

int Group::group_rank_of(int global_rank) const {
  const auto& ranks = global_ranks();
  const auto place = std::find(ranks.begin(), ranks.end(), global_rank);
  TORCH_CHECK_VALUE(place != ranks.end(),
                    "Global rank ",
                    global_rank,
                    " is not part of the group; its global ranks are ",
                    ranks);
  return static_cast<int>(place - ranks.begin());
}

Work Group::isend(const at::Tensor& tensor, int group_dst, int tag) const {
  std::vector<at::Tensor> tensors{tensor};
  return Work(post_message(
      *state_,
      [&](c10d::Backend& backend) { return backend.send(tensors, group_dst, tag); },
      [=] { return c10::str("send to group rank ", group_dst, " with tag ", tag); }));
}

Work Group::irecv(const at::Tensor& tensor, int group_src, int tag) const {
  const bool lands_directly = tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
  const at::Tensor landed =
      lands_directly ? tensor : at::empty(tensor.sizes(), tensor.options().requires_grad(false));
  std::vector<at::Tensor> tensors{landed};
  auto message = post_message(
      *state_,
      [&](c10d::Backend& backend) { return backend.recv(tensors, group_src, tag); },
      [=] { return c10::str("receipt from group rank ", group_src, " with tag ", tag); });
  message->set_receipt({landed, tensor});
  return Work(std::move(message));
}

std::vector<at::Tensor> Group::all_gather(const at::Tensor& tensor) const {
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < size(); ++rank) {
    outputs[0].push_back(room_for(tensor));
  }
  std::vector<at::Tensor> inputs{tensor};
  c10d::AllgatherOptions options;
  options.timeout = timeout();
  const auto message = post(connection_of(*state_), [&](c10d::Backend& backend) {
    return backend.allgather(outputs, inputs, options);
  });
  wait_for(
      *message, [] { return "all_gather"; }, timeout());
  return std::move(outputs[0]);
}

std::vector<at::Tensor> Group::gather(const at::Tensor& tensor, int group_dst) const {
  std::vector<std::vector<at::Tensor>> outputs;
  if (group_rank() == group_dst) {
    outputs.emplace_back();
    for (int rank = 0; rank < size(); ++rank) {
      outputs[0].push_back(room_for(tensor));
    }
  }
  std::vector<at::Tensor> inputs{tensor};
  c10d::GatherOptions options;
  options.rootRank = group_dst;
  options.timeout = timeout();
  const auto message = post(connection_of(*state_), [&](c10d::Backend& backend) {
    return backend.gather(outputs, inputs, options);
  });
  wait_for(
      *message, [=] { return c10::str("gather on group rank ", group_dst); }, timeout());
  return outputs.empty() ? std::vector<at::Tensor>() : std::move(outputs[0]);
}

void Group::broadcast(const at::Tensor& tensor, int group_src) const {
  std::vector<at::Tensor> tensors{tensor};
  c10d::BroadcastOptions options;
  options.rootRank = group_src;
  options.timeout = timeout();
  const auto message = post(connection_of(*state_), [&](c10d::Backend& backend) {
    return backend.broadcast(tensors, options);
  });
  wait_for(
      *message, [=] { return c10::str("broadcast from group rank ", group_src); }, timeout());
}

void Group::scatter(const at::Tensor& tensor,
                    const std::vector<at::Tensor>& tensors,
                    int group_src) const {
  std::vector<at::Tensor> outputs{tensor};
  std::vector<std::vector<at::Tensor>> inputs;
  if (group_rank() == group_src) {
    inputs.push_back(tensors);
  }
  c10d::ScatterOptions options;
  options.rootRank = group_src;
  options.timeout = timeout();
  const auto message = post(connection_of(*state_), [&](c10d::Backend& backend) {
    return backend.scatter(outputs, inputs, options);
  });
  wait_for(
      *message, [=] { return c10::str("scatter from group rank ", group_src); }, timeout());
}

Work Group::all_reduce(const at::Tensor& tensor, const c10d::ReduceOp& op) const {
  std::vector<at::Tensor> tensors{tensor};
  c10d::AllreduceOptions options;
  options.reduceOp = op;
  options.timeout = timeout();
  return Work(post_message(
      *state_,
      [&](c10d::Backend& backend) { return backend.allreduce(tensors, options); },
      [] { return "all_reduce"; }));
}

Work Group::reduce(const at::Tensor& tensor, int group_dst, const c10d::ReduceOp& op) const {
  std::vector<at::Tensor> tensors{tensor};
  c10d::ReduceOptions options;
  options.reduceOp = op;
  options.rootRank = group_dst;
  options.timeout = timeout();
  return Work(post_message(
      *state_,
      [&](c10d::Backend& backend) { return backend.reduce(tensors, options); },
      [=] { return c10::str("reduce on group rank ", group_dst); }));
}

std::shared_ptr<Conversation> Group::conversation_with(int group_rank) const {
  const auto agreement = state_->agreement;
  return agreement != nullptr ? agreement->with(group_rank) : nullptr;
}

std::shared_ptr<CollectiveAgreement> Group::collectives() const {
  const auto agreement = state_->agreement;
  return agreement != nullptr ? agreement->collectives() : nullptr;
}

void Group::wrap_backend(const BackendWrapper& wrapper) const {
  auto& connection = state_->connection;
  const std::lock_guard lock(connection.posting);
  if (connection.backend != nullptr) {
    connection.backend = wrapper(connection.backend);
  }
}

void Group::close() const {
  if (state_->agreement) {
    state_->agreement->close();
    state_->agreement.reset();
  }
  state_->dropped->close();
  const std::lock_guard lock(state_->connection.posting);
  state_->connection.backend.reset();
}

}  // namespace tdref
