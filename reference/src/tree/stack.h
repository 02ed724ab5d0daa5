// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <vector>

namespace tdref {

/// Inserts a stack dimension into a batch size.
///
/// Errors  c10::ValueError: the dimension is not within the batch dimensions, or behind the last.
Shape with_stack_dim(Shape batch_size, std::int64_t stack_dim, std::size_t count);

/// Stacks tensordicts along a new dimension; non-tensor data becomes a stack of the data of each
/// row. Lazy stacks of the same dimension and number of members stay lazy: members are stacked with
/// members. Tensorclasses of one class stay of it. Rows of different kinds or classes become dense
/// first.
///
/// Order   of the keys: that of the first row.
/// Shapes  rows have one batch size *B and equal keys and shapes, or the members of lazy stacks do;
///         the result has `rows.size()` at `dim` of *B.
/// Errors  c10::Error, naming the key and the rows: no rows; other keys, kinds, shapes, dtypes or
///         batch sizes; jagged tensors, which have no second ragged dimension.
/// Source  tensordict 0.15.3 torch.stack
AnyTensorDict stack(const std::vector<AnyTensorDict>& rows, std::int64_t dim = 0);

/// Copies a tensordict of any kind into one that holds one tensor under each key, here and below.
/// Below it a tensorclass stays one.
///
/// Errors  as stack().
TensorDict to_dense(const TensorDictBase& td);

}  // namespace tdref
