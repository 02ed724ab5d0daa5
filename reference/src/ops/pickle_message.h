// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace tdref {

/// Copies a pickle into a uint8 tensor that is to travel, and tells the observer.
at::Tensor pickle_message(std::string_view pickle);

/// Views the bytes of a contiguous tensor.
std::string_view as_bytes(const at::Tensor& tensor);

}  // namespace tdref
