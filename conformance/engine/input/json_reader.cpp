// SPDX-License-Identifier: BSD-3-Clause
#include "engine/input/json_reader.h"

#include <algorithm>

#include "values/text.h"

namespace tdconf {

using nlohmann::json;

JsonReader::JsonReader(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) throw ProtocolError(concat(where_, " is no JSON object"));
}

void JsonReader::refuse(const char* field, const char* expected) const {
  throw ProtocolError(concat("field `", field, "` of ", where_, " is not ", expected));
}

const json* JsonReader::optional(const char* field) {
  asked_.emplace_back(field);
  const auto found = object_.find(field);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonReader::any(const char* field) {
  asked_.emplace_back(field);
  const auto found = object_.find(field);
  if (found == object_.end()) throw ProtocolError(concat(where_, " has no field `", field, "`"));
  return *found;
}

std::string JsonReader::string(const char* field) {
  const json& value = any(field);
  if (!value.is_string()) refuse(field, "a string");
  return value.get<std::string>();
}

std::int64_t JsonReader::integer(const char* field) {
  const json& value = any(field);
  if (!value.is_number_integer()) refuse(field, "an integer");
  return value.get<std::int64_t>();
}

bool JsonReader::boolean(const char* field) {
  const json& value = any(field);
  if (!value.is_boolean()) refuse(field, "true or false");
  return value.get<bool>();
}

const json& JsonReader::array(const char* field) {
  const json& value = any(field);
  if (!value.is_array()) refuse(field, "an array");
  return value;
}

std::vector<std::int64_t> JsonReader::integers(const char* field) {
  const json& value = array(field);
  if (!std::ranges::all_of(value,
                           [](const json& element) { return element.is_number_integer(); })) {
    refuse(field, "an array of integers");
  }
  return value.get<std::vector<std::int64_t>>();
}

std::vector<std::string> JsonReader::strings(const char* field) {
  const json& value = array(field);
  if (!std::ranges::all_of(value, [](const json& element) { return element.is_string(); })) {
    refuse(field, "an array of strings");
  }
  return value.get<std::vector<std::string>>();
}

std::optional<std::string> JsonReader::optional_string(const char* field) {
  if (optional(field) == nullptr) return std::nullopt;
  return string(field);
}

std::optional<std::int64_t> JsonReader::optional_integer(const char* field) {
  if (optional(field) == nullptr) return std::nullopt;
  return integer(field);
}

void JsonReader::finish() const {
  for (const auto& [field, value] : object_.items()) {
    if (std::ranges::find(asked_, field) == asked_.end()) {
      throw ProtocolError(concat(where_, " has an unknown field `", field, "`"));
    }
  }
}

}  // namespace tdconf
