// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <vector>

namespace tdref {

/// Stacks tensordicts along a new dimension; non-tensor data becomes a stack of the data of each
/// row.
///
/// Order   of the keys: that of the first row.
/// Shapes  rows have one batch size *B and equal keys and shapes; the result has `rows.size()` at
///         `dim` of *B.
/// Errors  c10::Error, naming the key and the rows: no rows; other keys, kinds, shapes, dtypes or
///         batch sizes.
TensorDict stack(const std::vector<TensorDict>& rows, std::int64_t dim = 0);

}  // namespace tdref
