// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/plan.h>
#include <tdref/tensordict.h>

#include <optional>
#include <string>
#include <vector>

#include "group/note.h"

namespace tdref {

/// Names the other side of a transfer as the caller did, by a global rank or by a rank in a group.
struct PeerArguments {
  const char* name;                // "dst" or "src"
  std::optional<int> global_rank;  // dst, src
  std::optional<int> group_rank;   // group_dst, group_src
  const std::optional<Group>& group;
};

struct Peer {
  Group group;
  int group_rank;
};

/// Finds the peer.
///
/// Order   of the checks: group_dst without group; both; neither; then what needs the group.
/// Errors  c10::ValueError, as send() and recv() say.
/// Source  tensordict 0.15.3 _check_p2p_peer
Peer resolve_peer(const World& world, const PeerArguments& arguments);

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
  /// Describes the messages in words; empty if nothing compares them with the other end's.
  std::string structure;
};

/// Plans a send. Of a tensordict that is not consolidated only the storage is made, which, unlike
/// its views, needs no aligned leaves.
///
/// Peer    is told of the error, if both ranks compare.
/// Errors  c10::ValueError: as plan_transfer(). c10::NotImplementedError: a leaf whose elements
///         cannot travel as bytes (sparse, jagged, quantized, not on the CPU).
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
/// Blocks  together at most the group's timeout.
/// Errors  as PendingTransfer::posted() and Work::wait().
void complete(const Transfer& transfer);

/// Posts all messages as soon as the other end is known to fit, at once if nothing compares them.
Works start(const Transfer& transfer);

}  // namespace tdref
