// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/leaf.h>

namespace tdref {

/// Copies a tensor into a file that the result maps into memory. The file has no name, and goes
/// with the last tensor that maps it.
///
/// Errors  c10::Error: the file cannot be made or mapped. c10::NotImplementedError: a tensor that
///         is not strided or not on the CPU.
/// Source  tensordict 0.15.3 MemoryMappedTensor.from_tensor
Leaf memory_map(const at::Tensor& tensor);

}  // namespace tdref
