// SPDX-License-Identifier: BSD-3-Clause
#include "common/fields.h"

#include <algorithm>
#include <limits>

#include "values/text.h"

namespace tdconf::adapter {
namespace {

[[noreturn]] void wrong_type(const json& value, const std::string& where, const char* expected) {
  throw BadRequest(where + ": expected " + expected + ", got " + value.dump());
}

}  // namespace

void decode(const json& value, const std::string& where, std::int64_t& out) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest)) {
    wrong_type(value, where, "a 64-bit integer");
  }
  out = value.get<std::int64_t>();
}

void decode(const json& value, const std::string& where, bool& out) {
  if (!value.is_boolean()) wrong_type(value, where, "a boolean");
  out = value.get<bool>();
}

void decode(const json& value, const std::string& where, std::string& out) {
  if (!value.is_string()) wrong_type(value, where, "a string");
  out = value.get<std::string>();
}

void decode(const json& value, const std::string&, json& out) {
  out = value;
}

Fields::Fields(const json& object, std::string where, const std::vector<std::string>& known)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) wrong_type(object_, where_, "an object");
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw BadRequest(where_ + ": unknown field `" + key + "`; known: " + join(known, ", "));
    }
  }
}

}  // namespace tdconf::adapter
