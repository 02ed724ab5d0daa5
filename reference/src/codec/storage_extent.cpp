// SPDX-License-Identifier: BSD-3-Clause
#include "codec/storage_extent.h"

#include <algorithm>

#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/value_fields.h"

namespace tdref {
namespace {

constexpr std::size_t kStop = 3;  // of (dtype, shape, start, stop, ...)

std::int64_t extent_of_leaves(const Value::Dict& leaves) {
  std::int64_t extent = 0;
  for (const auto& [key, leaf] : leaves) {
    const auto* fields = leaf.sequence();
    TORCH_CHECK_VALUE(fields != nullptr && fields->size() > kStop,
                      "metadata describes leaf '",
                      text(key, "a key"),
                      "' by (dtype, shape, start, stop, pad)");
    extent = std::max(extent, integer((*fields)[kStop], "stop"));
  }
  return extent;
}

std::int64_t extent_of(const Value& metadata, int depth) {
  check_depth(depth);
  std::int64_t extent = extent_of_leaves(field<Value::Dict>(metadata, "leaves"));
  for (const auto& [key, value] : *metadata.get_if<Value::Dict>()) {
    if (value.is<Value::Dict>() && !is_reserved_key(text(key, "a key"))) {
      extent = std::max(extent, extent_of(value, depth + 1));
    }
  }
  return extent;
}

}  // namespace

std::int64_t storage_extent(const Value& metadata) {
  return extent_of(metadata, 0);
}

}  // namespace tdref
