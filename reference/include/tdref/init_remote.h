// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>

namespace tdref {

struct InitRemoteOptions {
  /// The global rank of the receiver; required without use_broadcast, which ignores it.
  std::optional<int> dst = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// What the metadata goes through, or with use_broadcast where the storage is made; only the CPU
  /// is served.
  std::optional<at::Device> device = std::nullopt;
  /// Whether every rank of the group receives the tensordict: then it is broadcast() from this rank.
  bool use_broadcast = false;
};

/// Sends the structure and the content of a tensordict to another rank, which knows neither, or with
/// use_broadcast to all other ranks of the group. What follows is without use_broadcast; with it,
/// everything is as in broadcast().
///
/// Order   of the leaves in the storage: as consolidate().
/// Wire    three messages with tag 0: int64[1], the bytes of a pickle; uint8[that many], the pickle
///         of consolidated_metadata() with '_total_bytes', the bytes of the storage, beside it, and
///         for a tensorclass '_tensorclass_type', its module and name; uint8[_total_bytes], the
///         storage. The first two are those of
///         torch.distributed.send_object_list([metadata]).
/// Peer    calls from_remote_init(). Where both ranks compare (GroupOptions), a rank that calls
///         another operation instead, or a tensordict that cannot be consolidated, is an error on
///         both before anything is sent.
/// Blocks  until the peer has posted all its receipts, at most the group's timeout.
/// Errors  before any message, c10::ValueError: no dst; no such rank; this rank itself; not a
///         member; a standalone group, whose ranks have no global rank. c10::NotImplementedError:
///         another device than the CPU; as consolidate() and consolidated_metadata(); a nested
///         tensordict under one of the two keys that travel beside the metadata; a storage that does
///         not end behind its last leaf. c10::ValueError: a pickle of more than 64 MiB.
///         Also before any message, where both ranks compare, c10::ValueError: the peer does
///         something else, or cannot do it. While waiting, those of Work::wait().
/// Source  tensordict 0.15.3 TensorDictBase.init_remote
void init_remote(const World& world, const TensorDictBase& td, const InitRemoteOptions& options);

}  // namespace tdref
