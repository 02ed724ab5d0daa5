// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace tdconf::bench {

/// What is timed or counted: one operation with one tensordict.
struct Case {
  std::string operation;
  /// How many leaves there are, at every depth together.
  std::int64_t leaves = 0;
  /// The size of each leaf.
  std::int64_t bytes = 0;
  /// How many levels of nested tensordicts stand below the root.
  std::int64_t depth = 0;
  at::ScalarType dtype = at::kFloat;
  std::string dtype_name;

  std::int64_t elements() const { return bytes / static_cast<std::int64_t>(itemsize()); }
  std::size_t itemsize() const { return c10::elementSize(dtype); }
  std::int64_t total_bytes() const { return leaves * bytes; }
};

/// Returns the name under which results are compared:
/// `OPERATION/leaves:L/bytes:B/depth:D/dtype:T/world:W`.
std::string name_of(const Case& c, int world);

}  // namespace tdconf::bench
