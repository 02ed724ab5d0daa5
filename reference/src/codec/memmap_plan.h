// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/tensordict.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace tdref {

/// What memmap() is going to do, in this order.
struct MemmapPlan {
  struct File {
    std::filesystem::path path;
    /// Text, or a tensor whose elements are written.
    std::variant<std::string, at::Tensor> content;
  };

  std::vector<std::filesystem::path> folders;
  /// What a reader would take for a part of what is written now.
  std::vector<std::filesystem::path> stale;
  /// meta.json behind what it describes.
  std::vector<File> files;
};

/// Errors  those of memmap() that it reports before anything is written.
MemmapPlan plan_memmap(const TensorDictBase& td,
                       const std::filesystem::path& prefix,
                       bool existsok);

}  // namespace tdref
