// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/value/tree.h"

namespace tdconf {

/// A reduction, under the names of `torch.distributed.ReduceOp`.
enum class ReduceOp { kSum, kAvg, kProduct, kMin, kMax, kBand, kBor, kBxor };

const std::vector<std::string>& reduce_op_names();

/// Errors  std::invalid_argument: none of reduce_op_names().
ReduceOp reduce_op_named(std::string_view name);

/// Reduces the values of the ranks of a group element by element, and returns the result with the
/// structure of `own`. Tensors are paired by their paths; non-tensor data stay those of `own`.
///
/// Order   from the first value to the last, each step in the dtype of the tensor: integers wrap,
///         floating numbers are rounded. AVG is the sum, then divided by the number of values. bool:
///         SUM, MAX and BOR are or, PRODUCT, MIN and BAND are and, BXOR is xor.
/// Errors  std::invalid_argument: values whose tensors differ in path, dtype or shape, or an op
///         without a meaning for a dtype: bits of floating and complex numbers, the order of complex
///         numbers, the average of integers and bools.
Tree reduced(const Tree& own, const std::vector<TreePtr>& values, ReduceOp op);

}  // namespace tdconf
