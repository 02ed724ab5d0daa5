// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string_view>

namespace tdconf::bench {

/// Says whether an operation of aten copies elements from tensors to others.
bool copies(std::string_view operation);

/// Returns the bytes of the elements that a copying operation writes.
std::int64_t bytes_copied(c10::ArrayRef<const c10::IValue> arguments);

}  // namespace tdconf::bench
