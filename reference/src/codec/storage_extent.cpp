// SPDX-License-Identifier: BSD-3-Clause
#include "codec/storage_extent.h"

#include <algorithm>

#include "codec/leaf_metadata.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/value_fields.h"

namespace tdref {
namespace {

std::int64_t extent_of_leaves(const Value::Dict& leaves) {
  std::int64_t extent = 0;
  for (const auto& [key, value] : leaves) {
    extent = std::max(extent, read_leaf(text(key, "a key"), value).span.stop);
  }
  return extent;
}

std::int64_t extent_of(const Value& metadata, int depth) {
  check_depth(depth);
  std::int64_t extent = extent_of_leaves(field<Value::Dict>(metadata, "leaves"));
  for (const auto& [key, value] : *metadata.get_if<Value::Dict>()) {
    if (!is_about_the_level(text(key, "a key"), value)) {
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
