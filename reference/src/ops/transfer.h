// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/plan.h>
#include <tdref/tensordict.h>
#include <tdref/work.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "group/note.h"
#include "ops/peer.h"

namespace tdref {

struct TransferOptions {
  TagOptions tags;
  bool consolidated = false;
};

/// This rank's end of a transfer, before anything is posted: everything that one end can find wrong
/// has been looked for.
struct Transfer {
  Peer peer;
  Side side = Side::kSends;
  /// The leaves, or the consolidated storage alone, with tag 0. What is sent is contiguous.
  std::vector<PlannedLeaf> messages;
  /// The tag of the first message, or the one that it would have; nothing if there is no such tag.
  std::optional<int> first_tag;
  /// What the messages carry; null if nothing compares it with the other end's.
  DescriptionPtr structure;
};

/// Lets `plan` complete a transfer.
///
/// Peer    is told of the error of `plan`, if both ranks compare.
/// Errors  those of `plan`, which then name the side and the peer.
Transfer plan_with(Transfer transfer, const std::function<void(Transfer&)>& plan);

/// Plans a send. Of a tensordict that is not consolidated only the storage is made, which, unlike
/// its views, needs no aligned leaves.
///
/// Peer    is told of the error, if both ranks compare.
/// Errors  name the side and the peer. c10::ValueError: as plan_transfer().
///         c10::NotImplementedError: a leaf whose elements cannot travel as bytes (sparse, jagged,
///         quantized, not on the CPU).
Transfer plan_send(const Peer& peer, const TensorDictBase& td, const TransferOptions& options);

/// Plans a receipt.
///
/// Peer    as plan_send().
/// Errors  as plan_send(), and c10::ValueError: a leaf with elements that share memory (expanded).
///         AttributeError: consolidated, and the tensordict is not. c10::NotImplementedError: a
///         persistent tensordict, whose file is only read.
Transfer plan_receipt(const Peer& peer, const TensorDictBase& td, const TransferOptions& options);

/// Posts all messages and waits for them.
///
/// Blocks  together at most the group's timeout; not at all if there are no messages.
/// Errors  as Conversation::announce(), Conversation::posted() and Work::wait().
void complete(Transfer transfer);

/// Posts all messages as soon as the other end is known to fit, at once if nothing compares them.
Works start(Transfer transfer);

}  // namespace tdref
