// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/value.h>

#include <algorithm>

namespace tdref {
namespace {

bool equal_in_any_order(const Value::Dict& a, const Value::Dict& b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

}  // namespace

const std::vector<Value>* Value::sequence() const {
  if (const auto* tuple = get_if<Tuple>()) {
    return &tuple->items;
  }
  return get_if<List>();
}

const Value* Value::find(std::string_view key) const {
  const auto* dict = get_if<Dict>();
  if (dict == nullptr) {
    return nullptr;
  }
  for (const auto& [name, item] : *dict) {
    if (const auto* text = name.get_if<std::string>(); text != nullptr && *text == key) {
      return &item;
    }
  }
  return nullptr;
}

const char* Value::type_name() const {
  static constexpr const char* kNames[] = {
      "None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "type"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(data_)>);
  return kNames[data_.index()];
}

bool Value::operator==(const Value& other) const {
  if (data_.index() != other.data_.index()) {
    return false;
  }
  if (const auto* dict = get_if<Dict>()) {
    return equal_in_any_order(*dict, *other.get_if<Dict>());
  }
  if (const auto* tuple = get_if<Tuple>()) {
    return tuple->items == other.get_if<Tuple>()->items;
  }
  return visit([&](const auto& data) {
    using Data = std::decay_t<decltype(data)>;
    if constexpr (std::is_same_v<Data, Tuple> || std::is_same_v<Data, Dict>) {
      return false;  // compared above
    } else {
      return data == *other.get_if<Data>();
    }
  });
}

}  // namespace tdref
