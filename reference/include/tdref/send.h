// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

struct SendOptions {
  /// The global rank of the receiver; exclusive with `group_dst`.
  std::optional<int> dst = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// The rank of the receiver in `group`, which must then be given.
  std::optional<int> group_dst = std::nullopt;
  std::int64_t init_tag = 0;
  bool pseudo_rand = false;
  bool consolidated = false;
};

/// Sends the leaves of a tensordict to another rank, one message per leaf.
///
/// Order   sorted keys, nested tensordicts in their place; see plan_transfer().
/// Wire    the elements in row-major order; no key, shape or dtype is sent. consolidated: one
///         message of uint8, the consolidated storage, with tag 0; init_tag and pseudo_rand are
///         ignored.
/// Peer    calls recv() or irecv() with the same keys, shapes, dtypes and tags; consolidated, with
///         the same order of insertion too. Where both ranks compare (GroupOptions), a transfer
///         whose ends do not fit, or that one end refuses, fails on both before anything is sent;
///         the group can be used further. An end without leaves waits for nothing, so that only the
///         other one can fail. Elsewhere the transport does not notice data that is shorter, and
///         ends the receiving process when it is longer.
/// Blocks  until the peer has posted all its receipts, at most the group's timeout; not at all
///         without leaves.
/// Errors  before any message, c10::ValueError: both, or neither, of dst and group_dst; group_dst
///         without group; no such rank; this rank itself; not a member; dst in a standalone group;
///         a tag out of range. c10::NotImplementedError: a leaf that is not a strided tensor on the
///         CPU (sparse, jagged, quantized, meta).
///         Also before any message, where both ranks compare, c10::ValueError: the receipt does not
///         fit, or was refused. While waiting, those of Work::wait().
/// Source  tensordict 0.15.3 TensorDictBase.send
void send(const World& world, const TensorDictBase& td, const SendOptions& options);

}  // namespace tdref
