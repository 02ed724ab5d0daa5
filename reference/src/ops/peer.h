// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include <optional>

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

}  // namespace tdref
