// SPDX-License-Identifier: BSD-3-Clause
#include "ops/p2p.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>

#include "codec/layout.h"
#include "codec/pack.h"
#include "tree/walk.h"

namespace tdref {
namespace {

constexpr int kConsolidatedTag = 0;

void check_peer_arguments(const PeerArguments& arguments) {
  const std::string name = std::string("`") + arguments.name + "`";
  const std::string group_name = std::string("`group_") + arguments.name + "`";
  if (arguments.group_rank.has_value()) {
    TORCH_CHECK_VALUE(arguments.group.has_value(), group_name, " requires `group` to be passed.");
    TORCH_CHECK_VALUE(
        !arguments.global_rank.has_value(), name, " and ", group_name, " are mutually exclusive.");
  } else {
    TORCH_CHECK_VALUE(arguments.global_rank.has_value(),
                      "Exactly one of ",
                      name,
                      " and ",
                      group_name,
                      " must be provided.");
  }
}

void check_has_bytes(const PlannedLeaf& leaf) {
  const auto& tensor = leaf.tensor;
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
                                  !tensor.is_nested() && !tensor.is_quantized(),
                              "leaf ",
                              to_string(leaf.key),
                              " cannot be transferred: it has layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device(),
                              " and dtype ",
                              tensor.dtype(),
                              "; allowed are strided tensors on the CPU that are not quantized");
}

at::Tensor plain_bytes(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg().contiguous();
}

}  // namespace

Peer resolve_peer(const World& world, const PeerArguments& arguments) {
  check_peer_arguments(arguments);
  const Group& group = world.group_or_default(arguments.group);
  const int self = group.group_rank();
  const int peer = arguments.group_rank.has_value() ? *arguments.group_rank
                                                    : group.group_rank_of(*arguments.global_rank);
  TORCH_CHECK_VALUE(peer >= 0 && peer < group.size(),
                    "group_",
                    arguments.name,
                    "=",
                    peer,
                    " is not in the group; its ranks are 0 to ",
                    group.size() - 1);
  TORCH_CHECK_VALUE(peer != self, arguments.name, " is this rank itself (group rank ", self, ")");
  return {group, peer};
}

void check_sendable(const std::vector<PlannedLeaf>& plan) {
  std::for_each(plan.begin(), plan.end(), check_has_bytes);
}

void check_receivable(const std::vector<PlannedLeaf>& plan) {
  for (const auto& leaf : plan) {
    check_has_bytes(leaf);
    TORCH_CHECK_VALUE(at::has_internal_overlap(leaf.tensor) != at::MemOverlap::Yes,
                      "leaf ",
                      to_string(leaf.key),
                      " cannot be received into: its elements share memory; clone it first");
  }
}

void check_in_memory(const TensorDictBase& td) {
  TORCH_CHECK_NOT_IMPLEMENTED(!holds_persistent(td),
                              "a persistent tensordict cannot be received into: its file is only "
                              "read");
}

Works post_sends(const Peer& peer, const std::vector<PlannedLeaf>& plan) {
  Works works;
  works.reserve(plan.size());
  for (const auto& leaf : plan) {
    works.push_back(peer.group.isend(plain_bytes(leaf.tensor), peer.group_rank, leaf.tag));
  }
  return works;
}

Works post_receipts(const Peer& peer, const std::vector<PlannedLeaf>& plan) {
  Works works;
  works.reserve(plan.size());
  for (const auto& leaf : plan) {
    works.push_back(peer.group.irecv(leaf.tensor, peer.group_rank, leaf.tag));
  }
  return works;
}

Works post_consolidated_send(const Peer& peer, const TensorDictBase& td) {
  const at::Tensor storage =
      td.is_consolidated() ? td.consolidated().storage : pack(td, lay_out(td));
  return {peer.group.isend(storage, peer.group_rank, kConsolidatedTag)};
}

Works post_consolidated_receipt(const Peer& peer, const TensorDictBase& td) {
  return {peer.group.irecv(td.consolidated().storage, peer.group_rank, kConsolidatedTag)};
}

void wait_all(Works& works, const Group& group) {
  using std::chrono::milliseconds;
  const auto deadline = std::chrono::steady_clock::now() + group.timeout();
  for (auto& work : works) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    work.wait(std::max(left, milliseconds(1)));  // to c10d, 0 means no timeout
  }
}

}  // namespace tdref
