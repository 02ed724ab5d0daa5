// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/value/tree.h"

namespace tdconf {

/// Returns where the rows of a tensor of form `jagged` begin among its values, and where the last one
/// ends, as the protocol says.
///
/// Shapes  two dimensions or more: rows, and how many values each has on average.
std::vector<std::int64_t> jagged_offsets(const Shape& shape);

/// Returns the values of a jagged tensor, one row after the other.
TensorLeaf jagged_values(const TensorLeaf& jagged);

/// Returns the tree with each jagged tensor replaced by the two that hold it, `values` and `offsets`.
Tree with_jagged_parts(const Tree& tree);

}  // namespace tdconf
