// SPDX-License-Identifier: BSD-3-Clause
#include "codec/value_fields.h"

#include <c10/util/safe_numerics.h>

#include <algorithm>

namespace tdref {

const Value& any_field(const Value& dict, std::string_view key) {
  const auto* value = dict.find(key);
  TORCH_CHECK_VALUE(value != nullptr, "the field '", key, "' is missing");
  return *value;
}

const std::string& text(const Value& value, const char* what) {
  const auto* data = value.get_if<std::string>();
  TORCH_CHECK_VALUE(data != nullptr, what, " must be a str, got ", value.type_name());
  return *data;
}

std::int64_t integer(const Value& value, const char* what) {
  const auto* data = value.get_if<std::int64_t>();
  TORCH_CHECK_VALUE(data != nullptr, what, " must be an int, got ", value.type_name());
  return *data;
}

Shape int_list(const Value& value, const char* what) {
  const auto* items = value.sequence();
  TORCH_CHECK_VALUE(items != nullptr, what, " must be a list, got ", value.type_name());
  Shape shape;
  shape.reserve(items->size());
  for (const auto& item : *items) {
    shape.push_back(integer(item, what));
    TORCH_CHECK_VALUE(shape.back() >= 0, what, " must not hold the negative number ", shape.back());
  }
  return shape;
}

DimNames names(const Value& value) {
  if (value.is_none()) {
    return {};
  }
  const auto* items = value.sequence();
  TORCH_CHECK_VALUE(items != nullptr, "names must be a list, got ", value.type_name());
  DimNames names;
  for (const auto& item : *items) {
    names.push_back(item.is_none() ? std::nullopt : std::optional(text(item, "a name")));
  }
  const bool has_name =
      std::any_of(names.begin(), names.end(), [](const auto& name) { return name.has_value(); });
  return has_name ? names : DimNames();
}

std::optional<at::Device> device(const Value* value) {
  if (value == nullptr || value->is_none()) {
    return std::nullopt;
  }
  const auto& name = text(*value, "a device");
  TORCH_CHECK_VALUE(name == "cpu", "the device '", name, "' is not supported; allowed is 'cpu'");
  return at::Device(at::kCPU);
}

std::int64_t bytes_of(const Shape& shape, std::int64_t item_bytes) {
  std::int64_t bytes = item_bytes;
  bool overflows = false;
  for (const auto size : shape) {
    overflows |= c10::mul_overflows(bytes, size, &bytes);
  }
  TORCH_CHECK_VALUE(!overflows, "a tensor of shape ", c10::IntArrayRef(shape), " is too large");
  return bytes;
}

}  // namespace tdref
