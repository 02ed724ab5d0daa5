// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>
#include <vector>

namespace tdref {

struct ScatterOptions {
  /// The global rank that has the tensordicts.
  int src = 0;
  /// On rank src, one tensordict for each rank of the group, by group rank; elsewhere ignored.
  std::optional<std::vector<AnyTensorDict>> tensordicts = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// Where the storage is received; only the CPU is served.
  std::optional<at::Device> device = std::nullopt;
};

/// Sends one tensordict of a list to each rank of the group, and returns it there as a new
/// consolidated one, on rank `src` too. It takes no tensordict to be called on, which Python's does
/// not use.
///
/// Order   of the leaves in a storage: as consolidate().
/// Wire    c10d's broadcast of int64[1], the bytes of the largest pickle; scatter of uint8[that
///         many], for each rank the pickle of consolidated_metadata() with '_total_bytes', the bytes
///         of its storage, '_max_bytes', those of the largest storage, and '_storage_device', 'cpu',
///         beside it; scatter of int64[1], the bytes of its pickle; scatter of uint8[_max_bytes],
///         its storage. What is shorter is padded with zeros. The first three are those of
///         torch.distributed.scatter_object_list.
/// Shapes  those of the tensordict for this rank; so are names, the device and the non-tensor data.
///         The wire names no class: a tensorclass arrives as a TensorDict, a lazy stack as one.
/// Peer    every rank of the group calls it with the same src. What rank src sends is not trusted,
///         as in from_remote_init(); how large the largest storage may be is not bounded.
/// Blocks  until every rank has called it, at most the group's timeout for each message.
/// Errors  before anything is sent, on all ranks if all compare (GroupOptions): c10::ValueError: no
///         such src, not a member, a standalone group, ranks that mean different things; on rank src
///         another number of tensordicts than ranks. c10::TypeError: on rank src, no tensordicts.
///         c10::NotImplementedError: another device than the CPU; on rank src, for each tensordict
///         as broadcast(), with the three keys of scatter().
///         After the metadata, those of from_remote_init(), and c10::NotImplementedError: a storage
///         on another device, if `device` is not given.
/// Source  tensordict 0.15.3 TensorDictBase.scatter
AnyTensorDict scatter(const World& world, const ScatterOptions& options);

}  // namespace tdref
