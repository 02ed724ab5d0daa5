// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tdconf {

/// An adapter said something that the protocol does not allow.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes null for nothing.
template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// Decodes one JSON object of the protocol field by field; what was never asked for is refused by
/// finish(). `where` names the object in errors.
class JsonReader {
 public:
  /// Errors  ProtocolError: no object.
  JsonReader(const nlohmann::json& object, std::string where);

  /// Each returns the field.
  ///
  /// Errors  ProtocolError: missing, or of another type.
  std::string string(const char* field);
  std::int64_t integer(const char* field);
  bool boolean(const char* field);
  std::vector<std::int64_t> integers(const char* field);
  std::vector<std::string> strings(const char* field);
  const nlohmann::json& array(const char* field);
  const nlohmann::json& any(const char* field);

  /// Each returns nothing when the field is absent or null.
  std::optional<std::string> optional_string(const char* field);
  std::optional<std::int64_t> optional_integer(const char* field);
  const nlohmann::json* optional(const char* field);

  /// Errors  ProtocolError: a field that was not asked for.
  void finish() const;

 private:
  [[noreturn]] void refuse(const char* field, const char* expected) const;

  const nlohmann::json& object_;
  std::string where_;
  std::vector<std::string> asked_;
};

}  // namespace tdconf
