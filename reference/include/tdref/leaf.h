// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/value.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tdref {

inline const PythonClass kTensor{"torch", "Tensor"};
inline const PythonClass kParameter{"torch.nn.parameter", "Parameter"};
inline const PythonClass kMemoryMappedTensor{"tensordict.memmap", "MemoryMappedTensor"};

/// Holds a tensor entry. C++ has one class of tensors, so the class that a leaf has in Python is an
/// attribute of its entry.
struct Leaf {
  at::Tensor tensor;
  PythonClass cls = kTensor;
};

/// Holds a jagged nested tensor by its parts, since its class exists only in Python.
///
/// Shapes  row i has the elements offsets[i] to offsets[i + 1] of `values` along dimension
///         ragged_idx - 1, or, with lengths, lengths[i] of them from offsets[i] on.
/// Source  torch 2.15 torch.nested._internal.nested_tensor.NestedTensor
struct Jagged {
  at::Tensor values = {};
  /// int64 or int32[rows + 1].
  at::Tensor offsets = {};
  /// As offsets, [rows]; undefined if the rows lie side by side.
  at::Tensor lengths = {};
  std::int64_t ragged_idx = 1;

  std::int64_t rows() const { return offsets.size(0) - 1; }
};

/// Holds a non-tensor entry: one datum for the whole batch (NonTensorData) or a list of them
/// (NonTensorStack).
struct NonTensor {
  Value data;
  /// Whether `data` is a list that has one datum for each row of the first batch dimension.
  bool stacked = false;
  /// How many more batch dimensions the list has rows for: those of a stack of stacks are lists.
  std::size_t nested_stacks = 0;

  bool operator==(const NonTensor&) const = default;
};

}  // namespace tdref
