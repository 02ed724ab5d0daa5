// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tdref {

// Reading of literals that come from another process. All of them throw c10::ValueError for another
// form.

/// Returns the item of a dict that must be there.
const Value& any_field(const Value& dict, std::string_view key);

/// Returns the item of a dict that must be there and have type T.
template <typename T>
const T& field(const Value& dict, std::string_view key) {
  const auto& value = any_field(dict, key);
  const auto* data = value.get_if<T>();
  TORCH_CHECK_VALUE(
      data != nullptr, "the field '", key, "' must not be of type ", value.type_name());
  return *data;
}

const std::string& text(const Value& value, const char* what);
std::int64_t integer(const Value& value, const char* what);
/// Reads a list of sizes, none negative.
Shape int_list(const Value& value, const char* what);
/// Reads a list of names or None; only None means that there are no names.
DimNames names(const Value& value);
/// Reads None or "cpu": a message brings its data to this process's memory.
std::optional<at::Device> device(const Value* value);

/// Returns the size of a tensor in bytes, if a 64-bit number can hold it.
std::int64_t bytes_of(const Shape& shape, std::int64_t item_bytes);

}  // namespace tdref
