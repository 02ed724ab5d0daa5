// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace tdref {

/// Checks an argument `device`.
///
/// Errors  c10::NotImplementedError: it is not the CPU.
inline void check_served(const std::optional<at::Device>& device) {
  TORCH_CHECK_NOT_IMPLEMENTED(!device.has_value() || device->is_cpu(),
                              "the device ",
                              device.value_or(at::kCPU),
                              " is not served; allowed is cpu");
}

}  // namespace tdref
