// SPDX-License-Identifier: BSD-3-Clause
#include "ops/transfer.h"

#include <ATen/MemoryOverlap.h>
#include <tdref/announcement.h>

#include <algorithm>

#include "codec/elements.h"
#include "codec/layout.h"
#include "codec/observer.h"
#include "codec/pack.h"
#include "group/conversation.h"
#include "group/work.h"
#include "ops/structure.h"
#include "tree/walk.h"

namespace tdref {
namespace {

constexpr int kConsolidatedTag = 0;

void check_travels(const PlannedLeaf& leaf) {
  check_has_bytes(leaf.tensor, "leaf ", to_string(leaf.key), " cannot be transferred");
}

void check_unshared(const PlannedLeaf& leaf) {
  TORCH_CHECK_VALUE(at::has_internal_overlap(leaf.tensor) != at::MemOverlap::Yes,
                    "leaf ",
                    to_string(leaf.key),
                    " cannot be received into: its elements share memory; clone it first");
}

void check_in_memory(const TensorDictBase& td) {
  TORCH_CHECK_NOT_IMPLEMENTED(!holds_persistent(td),
                              "a persistent tensordict cannot be received into: its file is only "
                              "read");
}

std::vector<PlannedLeaf> messages_to_send(const TensorDictBase& td,
                                          const TransferOptions& options) {
  if (options.consolidated) {
    return {{.key = {},
             .tag = kConsolidatedTag,
             .tensor = td.is_consolidated() ? td.consolidated().storage : pack(td, lay_out(td))}};
  }
  auto leaves = plan_transfer(td, options.tags);
  std::for_each(leaves.begin(), leaves.end(), check_travels);
  for (auto& leaf : leaves) {
    leaf.tensor = row_major(leaf.tensor);
  }
  return leaves;
}

std::vector<PlannedLeaf> messages_to_receive(const TensorDictBase& td,
                                             const TransferOptions& options) {
  if (options.consolidated) {
    return {{.key = {}, .tag = kConsolidatedTag, .tensor = td.consolidated().storage}};
  }
  auto leaves = plan_transfer(td, options.tags);
  check_in_memory(td);
  for (const auto& leaf : leaves) {
    check_travels(leaf);
    check_unshared(leaf);
  }
  return leaves;
}

// Null if nothing compares this transfer with its other end.
std::shared_ptr<Conversation> conversation_about(const Transfer& transfer) {
  return transfer.first_tag.has_value()
             ? transfer.peer.group.conversation_with(transfer.peer.group_rank)
             : nullptr;
}

// Tells the other end, which may be waiting, that this one will not come.
void refuse(const Transfer& transfer, const c10::Error& error) {
  const auto conversation = conversation_about(transfer);
  if (conversation == nullptr) {
    return;
  }
  try {
    conversation->announce(
        {{Note::Kind::kRefusal, transfer.side, *transfer.first_tag, error.what_without_backtrace()},
         {}});
  } catch (const c10::DistNetworkError&) {
    // The connection is lost, so nobody waits; the error of this end is the one to report.
  }
}

Transfer plan(const Peer& peer,
              Side side,
              const TensorDictBase& td,
              const TransferOptions& options) {
  const auto tag = options.consolidated ? kConsolidatedTag : first_tag(options.tags);
  return plan_with({peer, side, {}, tag, {}}, [&](Transfer& transfer) {
    transfer.messages =
        side == Side::kSends ? messages_to_send(td, options) : messages_to_receive(td, options);
    if (conversation_about(transfer) != nullptr) {
      transfer.structure = options.consolidated
                               ? description_of_storage(td)
                               : std::make_shared<const Description>(
                                     describe_leaves(transfer.messages, options.tags));
    }
  });
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

std::shared_ptr<void> show_announcement(const Transfer& transfer) {
  auto* observer = current_observer();
  if (observer == nullptr) {
    return nullptr;
  }
  const auto& [group, group_rank] = transfer.peer;
  return observer->announced({group, transfer.side == Side::kSends, group_rank, transfer.messages});
}

Proposal proposal_of(const std::shared_ptr<const Transfer>& transfer) {
  Posting posting;
  if (!transfer->messages.empty()) {
    posting = {[transfer] { return post(*transfer); }, show_announcement(*transfer)};
  }
  return propose(transfer->side, *transfer->first_tag, transfer->structure, std::move(posting));
}

}  // namespace

Transfer plan_with(Transfer transfer, const std::function<void(Transfer&)>& plan) {
  try {
    plan(transfer);
    return transfer;
  } catch (c10::Error& error) {
    refuse(transfer, error);
    error.add_context(c10::str(transfer.side == Side::kSends ? "send to" : "receipt from",
                               " group rank ",
                               transfer.peer.group_rank));
    throw;
  }
}

Transfer plan_send(const Peer& peer, const TensorDictBase& td, const TransferOptions& options) {
  return plan(peer, Side::kSends, td, options);
}

Transfer plan_receipt(const Peer& peer, const TensorDictBase& td, const TransferOptions& options) {
  return plan(peer, Side::kReceives, td, options);
}

void complete(Transfer transfer) {
  const auto timeout = transfer.peer.group.timeout();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Works works;
  if (const auto conversation = conversation_about(transfer)) {
    const auto shared = std::make_shared<const Transfer>(std::move(transfer));
    const auto pending = conversation->announce(proposal_of(shared));
    if (shared->messages.empty()) {
      return;  // the note is for the other end, which may have leaves
    }
    works = conversation->posted(*pending, timeout);
  } else {
    works = post(transfer);
  }
  for (auto& work : works) {
    work.wait(time_left(deadline));
  }
}

Works start(Transfer transfer) {
  const auto conversation = conversation_about(transfer);
  if (conversation == nullptr) {
    return post(transfer);
  }
  const auto shared = std::make_shared<const Transfer>(std::move(transfer));
  return works_of(conversation,
                  conversation->announce(proposal_of(shared)),
                  shared->messages.size(),
                  shared->peer.group.timeout());
}

}  // namespace tdref
