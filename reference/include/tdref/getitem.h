// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <variant>
#include <vector>

namespace tdref {

/// Means the rows from `start` up to, but not including, `stop`, as a slice does in Python: negative
/// numbers count from the end, and what lies outside of the dimension is left out.
struct Slice {
  std::int64_t start = 0;
  std::int64_t stop = 0;
};

/// Says what is taken of one batch dimension: one row, which removes the dimension, or a slice.
using Index = std::variant<std::int64_t, Slice>;

/// Takes part of a tensordict, as views into the same memory: element i of `index` is for batch
/// dimension i, and further dimensions stay whole. Of a lazy stack along such a dimension it takes
/// the member, or a lazy stack of some of them.
///
/// Errors  c10::IndexError: more elements than batch dimensions, a row that is not there.
///         c10::NotImplementedError: a jagged tensor, non-tensor data that has no such rows.
///         c10::ValueError: no member of a lazy stack.
/// Source  tensordict 0.15.3 TensorDictBase.__getitem__
AnyTensorDict getitem(const TensorDictBase& td, const std::vector<Index>& index);

}  // namespace tdref
