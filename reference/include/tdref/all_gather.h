// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>
#include <vector>

namespace tdref {

struct AllGatherOptions {
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
};

/// Returns the tensordicts of all ranks of the group, by group rank, on every rank, as new
/// consolidated ones; that of this rank too. They may differ in everything.
///
/// Order   of the leaves in a storage: as consolidate().
/// Wire    three times all_gather of c10d: int64[1], the bytes of a pickle; uint8[the largest of
///         them], the pickle of consolidated_metadata() with '_total_bytes', the bytes of the
///         storage, beside it; uint8[the largest _total_bytes], the storage. What is shorter is
///         padded with zeros. The first two are those of torch.distributed.all_gather_object.
/// Shapes  those of each rank; so are the names, the devices and the non-tensor data. The wire names
///         no class: a tensorclass arrives as a TensorDict, a lazy stack as one. History and the
///         class of leaves are not kept.
/// Peer    every rank of the group calls it; in a standalone group too. What the others send is not
///         trusted, as in from_remote_init().
/// Blocks  until every rank has called it, at most the group's timeout for each message.
/// Errors  before anything is sent, on all ranks if all compare (GroupOptions): c10::ValueError: not
///         a member, ranks that mean different things, a pickle of more than 64 MiB.
///         c10::NotImplementedError: as consolidate() and consolidated_metadata(); a nested
///         tensordict under '_total_bytes' at the root; a storage that does not end behind its last
///         leaf.
///         Then, on all ranks alike, so that the group stays usable, c10::ValueError: a size that
///         cannot be true or cannot be allocated, a pickle that unpickle_value() refuses, a leaf
///         that metadata describes wrongly; after all messages, as rebuild().
/// Source  tensordict 0.15.3 TensorDictBase.all_gather
std::vector<AnyTensorDict> all_gather(const World& world,
                                      const TensorDictBase& td,
                                      const AllGatherOptions& options = {});

}  // namespace tdref
