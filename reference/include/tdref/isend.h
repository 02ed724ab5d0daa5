// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>
#include <variant>

namespace tdref {

struct IsendOptions {
  /// The global rank of the receiver; exclusive with `group_dst`.
  std::optional<int> dst = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// The rank of the receiver in `group`, which must then be given.
  std::optional<int> group_dst = std::nullopt;
  std::int64_t init_tag = 0;
  bool pseudo_rand = false;
  bool return_early = false;
  bool consolidated = false;
};

/// What isend() returns: nothing (consolidated), the tag of the last leaf, or the pending messages
/// (return_early).
using IsendResult = std::variant<std::monostate, std::int64_t, Works>;

/// Sends the leaves of a tensordict to another rank, all messages at the same time.
///
/// Order   as send().
/// Wire    as send(). A leaf that is not contiguous, and a tensordict consolidated for the message,
///         is copied at the call; any other leaf may be read until its Work has been waited for.
/// Blocks  as send(); with return_early not at all.
/// Errors  as send(); with return_early those that need the peer come from Work::wait().
/// Source  tensordict 0.15.3 TensorDictBase.isend
IsendResult isend(const World& world, const TensorDictBase& td, const IsendOptions& options);

}  // namespace tdref
