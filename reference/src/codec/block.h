// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tdref {

/// Makes uint8[bytes] on the CPU for what is to be written once: a storage, or a message. A large
/// block lies on huge pages where the system has them, because the first write to each page costs
/// more than the bytes on it.
///
/// Errors  c10::Error: there is no such memory.
at::Tensor new_block(std::int64_t bytes);

}  // namespace tdref
