// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "common/case.h"

namespace tdconf::bench {

using Leaves = std::vector<at::Tensor>;

/// Returns new leaves of a case, of which nothing is known.
Leaves new_leaves(const Case& c);

/// Writes ((rank + 1) * (leaf + 1) + element) mod 97 into every element of every leaf.
void fill(const Leaves& leaves, int rank);

/// Writes 97, which fill() never writes, into every element.
void poison(const Leaves& leaves);

/// Checks that every element is what fill() of `rank` writes there.
///
/// Errors  c10::ValueError: one is not; names the leaf, the element, and both values.
void check_filled(const Leaves& leaves, int rank);

/// Checks that every element is the sum, in the dtype of the leaf, of what fill() of all ranks writes
/// there.
///
/// Errors  as check_filled().
void check_summed(const Leaves& leaves, int world);

}  // namespace tdconf::bench
