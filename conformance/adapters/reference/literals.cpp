// SPDX-License-Identifier: BSD-3-Clause
#include "reference/literals.h"

#include <cstdint>
#include <string>
#include <utility>

#include "values/hex.h"

namespace tdconf::adapter {
namespace {

json to_json_key(const tdref::Value& key) {
  const auto* text = key.get_if<std::string>();
  return text != nullptr ? json(*text) : json(to_json(key).dump());
}

}  // namespace

tdref::Value to_value(const json& data) {
  if (data.is_null()) return nullptr;
  if (data.is_boolean()) return data.get<bool>();
  if (data.is_string()) return data.get<std::string>();
  if (data.is_number_float()) return data.get<double>();
  if (data.is_array()) {
    tdref::Value::List list;
    for (const json& item : data) list.push_back(to_value(item));
    return list;
  }
  if (data.is_object()) {
    tdref::Value::Dict dict;
    for (const auto& [key, item] : data.items()) dict.emplace_back(key, to_value(item));
    return dict;
  }
  std::int64_t number = 0;
  decode(data, "data", number);
  return number;
}

json to_json(const tdref::Value& value) {
  if (value.is_none()) return nullptr;
  if (const auto* truth = value.get_if<bool>()) return *truth;
  if (const auto* number = value.get_if<std::int64_t>()) return *number;
  if (const auto* number = value.get_if<double>()) return *number;
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* items = value.sequence()) {
    json list = json::array();
    for (const tdref::Value& item : *items) list.push_back(to_json(item));
    return list;
  }
  if (const auto* dict = value.get_if<tdref::Value::Dict>()) {
    json object = json::object();
    for (const auto& [key, item] : *dict)
      object[to_json_key(key).get<std::string>()] = to_json(item);
    return object;
  }
  if (const auto* cls = value.get_if<tdref::PythonClass>()) return cls->module + '.' + cls->name;
  const std::string& data = value.get_if<tdref::Value::Bytes>()->data;
  return encode_hex({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()});
}

}  // namespace tdconf::adapter
