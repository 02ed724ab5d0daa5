// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>

namespace tdref {

struct GatherAndStackOptions {
  /// The global rank that receives the stack.
  int dst = 0;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
};

/// Stacks the tensordicts of the other ranks into the tensordict of rank `dst`, in place, and
/// returns it there (null elsewhere).
///
/// Order   rows in ascending group rank, without dst.
/// Wire    backend exactly "gloo": all_gather of int64[3] = [kind, storage bytes, total bytes],
///         kind 0 from dst, 1 a pickle, 2 a consolidated storage followed by its pickled metadata;
///         then gather of uint8[largest total], zero padded. Any other backend string: all_gather
///         of int64[1] = [bytes], then gather of uint8[largest], pickles; dst may send none, 0
///         bytes. With "gloo" a rank pickles when a leaf requires gradients, is neither a Tensor
///         nor a MemoryMappedTensor, is not strided or is not on the CPU, when it holds a
///         persistent tensordict, and when consolidate() or consolidated_metadata() refuses it. A
///         lazy stack or a tensorclass is no reason. A row names the class of each nested
///         tensorclass, and not that of its root: what receives keeps its class.
/// Shapes  on dst: batch_size = (size - 1, *B); elsewhere (*B). Leaf k: (size - 1, *B, *E_k) and
///         (*B, *E_k).
///         Rows that are lazy stacks of one form are stacked member by member, so that a lazy stack
///         of lazy stacks on dst may receive rows with ragged members; see update_in_place().
/// Peer    every rank of the group calls it with the same dst.
/// Blocks  until every rank has called it, at most the group's timeout.
/// Errors  before any message, on all ranks if all compare (GroupOptions), c10::ValueError: no such
///         dst, not a member, a standalone group, ranks that mean different things.
///         c10::ValueError on all ranks alike: a header that makes no sense, names metadata of more
///         than 64 MiB, or a message of more bytes than this machine has memory for each rank.
///         After all messages, so that no other rank waits: on dst, c10::Error, and nothing is
///         written: a number of rows other than size - 1, a group of one rank, rows that differ in
///         keys, shapes or batch size or hold jagged leaves, a row that is not a tensordict, a leaf
///         of dst that does not fit, a key to add to a locked tensordict. Elsewhere,
///         c10::NotImplementedError: this rank's tensordict cannot be pickled; dst then raises too.
/// Source  tensordict 0.15.3 TensorDictBase.gather_and_stack
TensorDictBase* gather_and_stack(const World& world,
                                 TensorDictBase& td,
                                 const GatherAndStackOptions& options);

}  // namespace tdref
