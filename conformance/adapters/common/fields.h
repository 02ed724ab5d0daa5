// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tdconf::adapter {

using json = nlohmann::json;

/// The judge asked for something that this adapter cannot carry out; answered by `error`.
class BadRequest : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request needs a capability that `hello` did not claim; answered by `unsupported`.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Converts one JSON value without any coercion: an integer is no boolean and 1.0 is no integer.
///
/// Errors  BadRequest: the value has another type; the message begins with `where`.
void decode(const json& value, const std::string& where, std::int64_t& out);
void decode(const json& value, const std::string& where, bool& out);
void decode(const json& value, const std::string& where, std::string& out);
void decode(const json& value, const std::string& where, json& out);

template <typename T>
void decode(const json& value, const std::string& where, std::vector<T>& out);
template <typename T>
void decode(const json& value, const std::string& where, std::optional<T>& out);

/// The fields of one JSON object, all of them known and each of the type that is asked for.
class Fields {
 public:
  /// Errors  BadRequest: `object` is no object, or has a field that `known` does not list.
  Fields(const json& object, std::string where, const std::vector<std::string>& known);

  /// Errors  BadRequest: the field is absent or has another type.
  template <typename T>
  T required(const std::string& key) const;

  /// Returns nothing when the field is absent; null counts as present.
  template <typename T>
  std::optional<T> optional(const std::string& key) const;

  const std::string& where() const { return where_; }

 private:
  json object_;
  std::string where_;
};

// Definitions of the templates.

template <typename T>
void decode(const json& value, const std::string& where, std::vector<T>& out) {
  if (!value.is_array()) throw BadRequest(where + ": expected a list, got " + value.type_name());
  out.clear();
  for (std::size_t i = 0; i < value.size(); ++i) {
    T item{};
    decode(value[i], where + '[' + std::to_string(i) + ']', item);
    out.push_back(std::move(item));
  }
}

template <typename T>
void decode(const json& value, const std::string& where, std::optional<T>& out) {
  if (value.is_null()) {
    out = std::nullopt;
    return;
  }
  T item{};
  decode(value, where, item);
  out = std::move(item);
}

template <typename T>
T Fields::required(const std::string& key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) throw BadRequest(where_ + ": field `" + key + "` is missing");
  T out{};
  decode(*found, where_ + '.' + key, out);
  return out;
}

template <typename T>
std::optional<T> Fields::optional(const std::string& key) const {
  if (!object_.contains(key)) return std::nullopt;
  return required<T>(key);
}

}  // namespace tdconf::adapter
