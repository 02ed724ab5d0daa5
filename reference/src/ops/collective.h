// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/plan.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tdref {

/// This rank's part in a collective, before anything is posted: everything that one rank can find
/// wrong has been looked for.
struct Collective {
  Group group;
  /// What all ranks must mean alike, in one line: "broadcast from group rank 1".
  std::string operation;
  /// What else must be the same on all ranks, if anything: for each leaf a line that begins with
  /// '\n', as describe_leaves() writes them.
  std::string leaves = {};
  /// The first call, as torch.distributed names it, and the rank in the group that gives or gets, if
  /// one rank does: for an observer.
  std::string call = {};
  std::optional<int> group_root = std::nullopt;
  /// The messages, for an observer; only of the first are the contents looked at.
  std::vector<PlannedLeaf> messages = {};
};

/// Lets `plan` complete a part of a collective.
///
/// Peer    all other ranks are told of the error of `plan`, if all compare (GroupOptions).
/// Errors  those of `plan`, which then name the operation.
Collective plan_collective(Collective collective, const std::function<void(Collective&)>& plan);

/// Returns when all ranks are known to mean the same, at once if they do not compare. The messages
/// are the caller's to post.
///
/// Blocks  until all ranks have begun the collective; at most the group's timeout.
/// Errors  as CollectiveAgreement::announce() and CollectiveAgreement::posted().
void agree(const Collective& collective);

/// Lets `post` post the messages as soon as all ranks are known to mean the same, by any thread, at
/// once if they do not compare. `post` returns `count` Works; so does start(), at once.
///
/// Errors  of a Work's wait(): as agree().
Works start(const Collective& collective, std::size_t count, const std::function<Works()>& post);

}  // namespace tdref
