// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/ATen.h>
#include <tdref/tensordict.h>

namespace tdref::testing {

/// {b: float32[2, 3], a: int64[2], n: {c: bool[2]}}, batch size [2]; element i of a leaf is `first
/// + i`, c is alternating.
TensorDict sample(int first);

/// The structure of sample() with -1 everywhere (c: all true).
TensorDict poisoned_sample();

/// Whether two tensordicts are of one kind and have the same keys in the same order, batch sizes,
/// names and data, bit for bit.
bool same(const TensorDictBase& a, const TensorDictBase& b);

/// Whether two tensors have the same dtype, shape and layout, and elements of the same bits.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

/// Returns a tensordict that must be a TensorDict.
TensorDict plain(const AnyTensorDict& td);

/// Returns bool[2].
at::Tensor false_true();

/// Returns float32[size] from `first` in steps of 1.
at::Tensor ramp(int first, std::int64_t size);

}  // namespace tdref::testing
