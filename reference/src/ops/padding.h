// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <cstdint>

namespace tdref {

/// Returns the bytes of `message`, followed by zeros up to `bytes`: uninitialised memory does not
/// travel.
inline at::Tensor padded(const at::Tensor& message, std::int64_t bytes) {
  if (message.numel() == bytes) {
    return message;
  }
  auto result = at::zeros({bytes}, at::kByte);
  result.narrow(0, 0, message.numel()).copy_(message);
  return result;
}

}  // namespace tdref
