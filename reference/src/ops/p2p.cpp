// SPDX-License-Identifier: BSD-3-Clause
#include "ops/p2p.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "codec/layout.h"
#include "codec/pack.h"
#include "group/agreement.h"
#include "ops/structure.h"
#include "plan/pseudo_random.h"
#include "tree/walk.h"

namespace tdref {
namespace {

constexpr int kConsolidatedTag = 0;

// Nothing if no transfer has such tags.
std::optional<int> first_tag_of(const TagOptions& tags) {
  if (tags.init_tag < 0 || (!tags.pseudo_rand && tags.init_tag > std::numeric_limits<int>::max())) {
    return std::nullopt;
  }
  return tags.pseudo_rand ? PseudoRandomTags(static_cast<std::uint64_t>(tags.init_tag)).next()
                          : static_cast<int>(tags.init_tag);
}

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

void check_unshared(const PlannedLeaf& leaf) {
  TORCH_CHECK_VALUE(at::has_internal_overlap(leaf.tensor) != at::MemOverlap::Yes,
                    "leaf ",
                    to_string(leaf.key),
                    " cannot be received into: its elements share memory; clone it first");
}

at::Tensor plain_bytes(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg().contiguous();
}

std::vector<PlannedLeaf> leaves_to_send(const TensorDictBase& td, const TagOptions& tags) {
  auto leaves = plan_transfer(td, tags);
  std::for_each(leaves.begin(), leaves.end(), check_has_bytes);
  for (auto& leaf : leaves) {
    leaf.tensor = plain_bytes(leaf.tensor);
  }
  return leaves;
}

void check_in_memory(const TensorDictBase& td) {
  TORCH_CHECK_NOT_IMPLEMENTED(!holds_persistent(td),
                              "a persistent tensordict cannot be received into: its file is only "
                              "read");
}

std::vector<PlannedLeaf> leaves_to_receive(const TensorDictBase& td, const TagOptions& tags) {
  auto leaves = plan_transfer(td, tags);
  check_in_memory(td);
  for (const auto& leaf : leaves) {
    check_has_bytes(leaf);
    check_unshared(leaf);
  }
  return leaves;
}

// Tells the other end, which may be waiting, that this one will not come.
void refuse(const Peer& peer, Side side, const TransferOptions& options, const c10::Error& error) {
  const auto agreement = peer.group.agreement_with(peer.group_rank);
  const auto first_tag = options.consolidated ? kConsolidatedTag : first_tag_of(options.tags);
  if (agreement == nullptr || !first_tag.has_value()) {
    return;
  }
  try {
    agreement->announce(
        peer.group_rank,
        {{Note::Kind::kRefusal, side, *first_tag, error.what_without_backtrace()}, nullptr});
  } catch (const c10::DistNetworkError&) {
    // The connection is lost, so nobody waits; the error of this end is the one to report.
  }
}

Transfer plan(const Peer& peer,
              Side side,
              const TensorDictBase& td,
              const TransferOptions& options,
              const std::function<std::vector<PlannedLeaf>()>& find_messages) {
  try {
    Transfer transfer{peer, side, find_messages(), {}};
    if (peer.group.agreement_with(peer.group_rank) != nullptr) {
      transfer.structure = options.consolidated ? describe_storage(td)
                                                : describe_leaves(transfer.messages, options.tags);
    }
    return transfer;
  } catch (const c10::Error& error) {
    refuse(peer, side, options, error);
    throw;
  }
}

Works post(const Transfer& transfer) {
  const auto& [group, group_rank] = transfer.peer;
  Works works;
  works.reserve(transfer.messages.size());
  for (const auto& message : transfer.messages) {
    works.push_back(transfer.side == Side::kSends
                        ? group.isend(message.tensor, group_rank, message.tag)
                        : group.irecv(message.tensor, group_rank, message.tag));
  }
  return works;
}

// Null if the messages can be posted without further ado.
std::shared_ptr<PendingTransfer> announce(const Transfer& transfer) {
  const auto agreement = transfer.peer.group.agreement_with(transfer.peer.group_rank);
  if (agreement == nullptr || transfer.messages.empty()) {
    return nullptr;
  }
  return agreement->announce(
      transfer.peer.group_rank,
      {{Note::Kind::kStructure, transfer.side, transfer.messages.front().tag, transfer.structure},
       [transfer] { return post(transfer); }});
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

Transfer plan_send(const Peer& peer, const TensorDictBase& td, const TransferOptions& options) {
  return plan(peer, Side::kSends, td, options, [&]() -> std::vector<PlannedLeaf> {
    if (!options.consolidated) {
      return leaves_to_send(td, options.tags);
    }
    return {{{},
             kConsolidatedTag,
             td.is_consolidated() ? td.consolidated().storage : pack(td, lay_out(td))}};
  });
}

Transfer plan_receipt(const Peer& peer, const TensorDictBase& td, const TransferOptions& options) {
  return plan(peer, Side::kReceives, td, options, [&]() -> std::vector<PlannedLeaf> {
    if (!options.consolidated) {
      return leaves_to_receive(td, options.tags);
    }
    return {{{}, kConsolidatedTag, td.consolidated().storage}};
  });
}

void complete(const Transfer& transfer) {
  using std::chrono::milliseconds;
  const auto timeout = transfer.peer.group.timeout();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto pending = announce(transfer);
  auto works = pending != nullptr ? pending->posted(timeout) : post(transfer);
  for (auto& work : works) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    work.wait(std::max(left, milliseconds(1)));  // to c10d, 0 means no timeout
  }
}

Works start(const Transfer& transfer) {
  const auto pending = announce(transfer);
  return pending != nullptr
             ? works_of(pending, transfer.messages.size(), transfer.peer.group.timeout())
             : post(transfer);
}

}  // namespace tdref
