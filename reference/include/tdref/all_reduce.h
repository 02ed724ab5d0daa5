// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

struct AllReduceOptions {
  /// SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR.
  c10d::ReduceOp op = c10d::ReduceOp::SUM;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  bool async_op = false;
  /// The size up to which leaves are packed into one reduction; without it each leaf is one.
  std::optional<std::int64_t> bucket_bytes = std::nullopt;
};

/// Reduces each leaf over all ranks of the group, in place, so that every rank holds the result.
///
/// Order   keys in code-point order at each level, a nested tensordict visited in its place; of a
///         lazy stack the leaves of member 0, then of member 1, and so on. With bucket_bytes first
///         the leaves that are never packed, then the buckets of each dtype, in the order of their
///         first leaf.
/// Wire    one all_reduce of c10d for each leaf or bucket, of the elements in row-major order;
///         complex ones as pairs of real ones. Zero elements are a message too.
/// Shapes  a bucket has at most bucket_bytes; a larger leaf is one of its own. A leaf that is not
///         contiguous or not strided is never packed. What is not contiguous is reduced in a copy
///         and written back, and its neighbours in memory keep their values. Two leaves in one
///         memory are each reduced from what they hold at the call. Non-tensor data stays as it is.
///         Every rank gets the same bits. With two ranks these are the bits of a + b, packed or
///         not; with more, gloo adds in an order that depends on the place of the element within
///         the message, so that inexact sums and products of packed leaves may differ in the last
///         bits from those of others. AVG is SUM divided by the number of ranks. bool: SUM and MAX
///         are or, PRODUCT and MIN are and. MIN and MAX of a NaN and a number are either.
/// Peer    every rank of the group calls it with the same op and bucket_bytes, and a tensordict of
///         the same keys, shapes and dtypes, inserted in any order. Where tensordict has a rank in
///         the group, all insert their keys in sorted order: its all_reduce visits them in the
///         order of insertion, though the other methods do not. It also reduces a leaf that is not
///         contiguous as the first elements of its memory.
/// Blocks  until every rank has called it, at most the group's timeout. async_op: not at all; the
///         pending reductions are returned, one for each leaf or bucket. A leaf may be read when its
///         Work has been waited for, which also writes back what was packed or copied; a Work that
///         is dropped before does not.
/// Errors  before anything is sent, on all ranks if all compare (GroupOptions): c10::ValueError:
///         not a member, bucket_bytes that is not positive, a leaf whose elements share memory
///         (expanded), ranks that mean different things. c10::NotImplementedError: an op that gloo
///         does not do, or does wrong, with the dtype of a leaf: bool, uint8, int8, int32 and int64
///         have all but AVG; float16, bfloat16, float32 and float64 have SUM, AVG, PRODUCT, MIN and
///         MAX; complex ones have SUM and AVG; sparse ones of uint8, int8, int32, int64, bfloat16,
///         float32 and float64 have SUM; others have none. A leaf that is jagged, on another device,
///         or neither strided nor sparse; a persistent tensordict, whose file is only read.
///         After that as Work::wait(); all reductions are waited for before the first error is
///         raised.
/// Source  tensordict 0.15.3 TensorDictBase.all_reduce
std::optional<Works> all_reduce(const World& world,
                                TensorDictBase& td,
                                const AllReduceOptions& options = {});

}  // namespace tdref
