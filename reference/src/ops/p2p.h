// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/plan.h>
#include <tdref/tensordict.h>

#include <optional>
#include <string>
#include <vector>

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

/// Errors  c10::NotImplementedError: a leaf whose elements cannot travel as bytes (sparse, jagged,
///         quantized, not on the CPU).
void check_sendable(const std::vector<PlannedLeaf>& plan);

/// Errors  as check_sendable(), and c10::ValueError: a leaf with elements that share memory
///         (expanded).
void check_receivable(const std::vector<PlannedLeaf>& plan);

/// Errors  c10::NotImplementedError: a persistent tensordict, whose file is only read.
void check_in_memory(const TensorDictBase& td);

/// Posts one message for each leaf.
Works post_sends(const Peer& peer, const std::vector<PlannedLeaf>& plan);
Works post_receipts(const Peer& peer, const std::vector<PlannedLeaf>& plan);

/// Posts the consolidated storage as one message with tag 0. Of a tensordict that is not
/// consolidated only the storage is made, which, unlike its views, needs no aligned leaves.
Works post_consolidated_send(const Peer& peer, const TensorDictBase& td);

/// Posts the receipt of one message with tag 0 into the consolidated storage.
///
/// Errors  AttributeError: the tensordict is not consolidated.
Works post_consolidated_receipt(const Peer& peer, const TensorDictBase& td);

/// Waits for all messages, together at most the group's timeout.
void wait_all(Works& works, const Group& group);

}  // namespace tdref
