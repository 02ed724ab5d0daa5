// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fields.h"

namespace tdconf::adapter {

inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 30;

/// Refuses a tensor that would be too large, before anything allocates it.
///
/// Shapes  a dimension of size 0 counts as 1, so that strides stay within the bound too.
/// Errors  BadRequest: a negative size, or more than kMaxTensorBytes.
void check_tensor_size(const std::vector<std::int64_t>& shape,
                       std::int64_t itemsize,
                       const std::string& where);

/// Builds the tensor that a TREE of kind `tensor` describes.
///
/// Shapes  `transposed` lays the elements out in the reverse order of dimensions; `expanded` shares
///         the memory of the first row among all rows, which must be filled alike.
/// Errors  BadRequest: unknown dtype, form or fill, a form that these elements cannot have, or more
///         than kMaxTensorBytes.
///         Unsupported: a form without a counterpart in C++.
at::Tensor make_tensor(const json& tree, const std::string& where);

/// Returns the name of a dtype in the protocol.
std::string dtype_name(at::ScalarType scalar_type);

/// Returns the digest of the elements in row-major order, or nothing where they cannot be read.
std::optional<std::string> digest_of(const at::Tensor& tensor);

/// Describes one tensor as a leaf of a snapshot: its type, its memory, and its elements where they
/// can be read.
json snapshot_tensor(const at::Tensor& tensor);

/// Describes the memory behind a consolidated tensordict: `token`, `nbytes`, and `bytes` or
/// `sha256`.
json snapshot_storage(const at::Tensor& storage);

}  // namespace tdconf::adapter
