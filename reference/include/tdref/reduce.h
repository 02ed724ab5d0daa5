// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

struct ReduceOptions {
  /// The global rank that receives the result.
  int dst = 0;
  /// SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR.
  c10d::ReduceOp op = c10d::ReduceOp::SUM;
  bool async_op = false;
  /// Only with async_op: return the pending reductions.
  bool return_premature = false;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// The size up to which leaves are packed into one reduction; without it each leaf is one.
  std::optional<std::int64_t> bucket_bytes = std::nullopt;
};

/// Reduces each leaf over all ranks of the group, into the tensordict of rank `dst`.
///
/// Order   as all_reduce(), but a lazy stack has the leaves of the dense tensordict of the same keys
///         and shapes.
/// Wire    one reduce of c10d for each leaf or bucket, with elements as all_reduce() has them.
/// Shapes  as all_reduce(). The members of a lazy stack have the same keys and shapes; rank dst
///         writes the result back into them. On the other ranks the values are not defined: here, a
///         leaf that is contiguous and alone holds partial results, and all others are as they
///         were.
/// Peer    every rank of the group calls it with the same dst, op and bucket_bytes, and a tensordict
///         of the same keys, shapes and dtypes, inserted in any order; a lazy stack and a dense
///         tensordict go together. tensordict's ranks do so too, but for leaves that are not
///         contiguous.
/// Blocks  as all_reduce(). async_op alone changes nothing that can be seen, and return_premature
///         without it is ignored.
/// Errors  as all_reduce(), and before anything is sent c10::ValueError: no such dst, a standalone
///         group; c10::NotImplementedError: a sparse leaf; c10::Error: members of a lazy stack that
///         differ in their keys, or in the shape or dtype of a leaf. On dst, once all reductions
///         have been waited for, c10::Error: a leaf of a lazy stack's member that cannot be written
///         (expanded).
/// Source  tensordict 0.15.3 TensorDictBase.reduce
std::optional<Works> reduce(const World& world, TensorDictBase& td, const ReduceOptions& options);

}  // namespace tdref
