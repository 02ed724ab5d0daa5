// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>

namespace tdref {

/// How deep a message from another process may nest: each level costs stack.
constexpr int kMaxDepth = 500;

inline void check_depth(int depth) {
  TORCH_CHECK_VALUE(depth <= kMaxDepth, "the message nests deeper than ", kMaxDepth, " levels");
}

/// Bounds what may be copied out of a message, in which one object may be named many times, in two
/// bytes each time.
class CopyBudget {
 public:
  explicit CopyBudget(std::size_t message_bytes) : left_(kGrowth * (message_bytes + 1)) {}

  void spend(std::size_t bytes) {
    TORCH_CHECK_VALUE(bytes <= left_, "the message is too large when its shared parts are copied");
    left_ -= bytes;
  }

 private:
  static constexpr std::size_t kGrowth = 64;

  std::size_t left_;
};

}  // namespace tdref
