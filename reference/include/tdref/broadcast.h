// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>
#include <variant>

namespace tdref {

struct BroadcastOptions {
  /// The global rank that sends its tensordict.
  int src = 0;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// Where the storage is made; only the CPU is served.
  std::optional<at::Device> device = std::nullopt;
};

/// Points at the tensordict that broadcast() was called on, or holds another one. A copy would share
/// its memory, but not what happens to its entries, so that a caller could not tell which it has.
using BroadcastResult = std::variant<const TensorDictBase*, AnyTensorDict>;

/// Sends the tensordict of rank `src` to every rank of the group. Returns it on rank `src`: itself
/// if it is consolidated, else a consolidated copy; on the others a new consolidated tensordict,
/// whatever theirs is.
///
/// Order   of the leaves in the storage: as consolidate().
/// Wire    three broadcasts of c10d: int64[1], the bytes of a pickle; uint8[that many], the pickle
///         of consolidated_metadata() with '_total_bytes', the bytes of the storage, and
///         '_storage_device', 'cpu', beside it, and for a tensorclass '_tensorclass_type', its
///         module and name; uint8[_total_bytes], the storage. The first two are those of
///         torch.distributed.broadcast_object_list([metadata]).
/// Shapes  those of rank src; so are the class (a lazy stack stays one, and so does a tensorclass),
///         the names, the device and the non-tensor data. History and the class of leaves are not
///         kept. The result is locked, as every consolidated tensordict here.
/// Peer    every rank of the group calls it with the same src; init_remote() and from_remote_init()
///         with use_broadcast do. What rank src sends is not trusted, as in from_remote_init().
/// Blocks  until every rank has called it, at most the group's timeout for each message.
/// Errors  before anything is sent, on all ranks if all compare (GroupOptions): c10::ValueError: no
///         such src, not a member, a standalone group, ranks that mean different things.
///         c10::NotImplementedError: another device than the CPU; on rank src, as consolidate() and
///         consolidated_metadata(), a nested tensordict under one of the three keys that travel
///         beside the metadata, a storage that does not end behind its last leaf. c10::ValueError:
///         a pickle of more than 64 MiB.
///         Elsewhere, after the metadata, those of from_remote_init(), and
///         c10::NotImplementedError: a storage on another device, if `device` is not given.
/// Source  tensordict 0.15.3 TensorDictBase.broadcast
BroadcastResult broadcast(const World& world,
                          const TensorDictBase& td,
                          const BroadcastOptions& options);

}  // namespace tdref
