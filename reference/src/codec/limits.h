// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>

namespace tdref {

/// The longest metadata that one end of a transfer sends or takes, before the storage it describes.
constexpr std::size_t kMaxMetadataBytes = std::size_t{1} << 26;

/// How deep a message or a file from another process may nest: each level costs stack.
constexpr int kMaxDepth = 500;

inline void check_depth(int depth) {
  TORCH_CHECK_VALUE(depth <= kMaxDepth, "the data nests deeper than ", kMaxDepth, " levels");
}

/// Bounds what may be made of the bytes of a message, in which one object may be named many times,
/// in two bytes each time, or of a file, which HDF5 may compress.
class CopyBudget {
 public:
  explicit CopyBudget(std::size_t bytes) : left_(most(bytes)) {}

  static constexpr std::size_t most(std::size_t bytes) { return kGrowth * (bytes + 1); }

  void spend(std::size_t bytes) {
    TORCH_CHECK_VALUE(bytes <= left_,
                      "the data is more than ",
                      kGrowth,
                      " times as large as the bytes that hold it");
    left_ -= bytes;
  }

 private:
  static constexpr std::size_t kGrowth = 64;

  std::size_t left_;
};

}  // namespace tdref
