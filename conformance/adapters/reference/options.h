// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>
#include <string>

#include "common/player.h"

namespace tdconf::adapter {

/// Replaces `option` by the argument, if there is one.
template <typename T>
void set_option(const Fields& args, const std::string& key, T& option) {
  if (auto value = args.optional<T>(key)) option = *value;
}

inline std::optional<int> rank_of(const Fields& args, const std::string& key) {
  const auto rank = args.optional<std::int64_t>(key);
  if (!rank) return std::nullopt;
  if (*rank < std::numeric_limits<int>::min() || *rank > std::numeric_limits<int>::max()) {
    throw BadRequest(args.where() + '.' + key + ": a rank has 32 bits");
  }
  return static_cast<int>(*rank);
}

/// Returns a rank that must be there.
inline int needed_rank_of(const Fields& args, const std::string& key) {
  const auto rank = rank_of(args, key);
  if (!rank) throw BadRequest(args.where() + ": field `" + key + "` is missing");
  return *rank;
}

/// Reads a device as torch spells it.
///
/// Errors  c10::Error: torch spells none like that.
inline std::optional<at::Device> device_of(const Fields& args) {
  const auto name = args.optional<std::string>("device");
  return name ? std::optional(at::Device(*name)) : std::nullopt;
}

}  // namespace tdconf::adapter
