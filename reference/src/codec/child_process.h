// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace tdref {

struct ChildLimits {
  /// How much more memory the child may have than this process has now.
  std::size_t memory_bytes = 0;
  /// How long it may compute.
  unsigned int cpu_seconds = 0;
};

/// Calls `produce` in a copy of this process and returns what it returns. A library that breaks on
/// the bytes of another process breaks there, and not here.
///
/// Errors  c10::ValueError: what `produce` throws, with its message; and that it broke, or needed
///         more than the limits. c10::Error: the system makes no child.
std::string call_in_child(const ChildLimits& limits, const std::function<std::string()>& produce);

}  // namespace tdref
