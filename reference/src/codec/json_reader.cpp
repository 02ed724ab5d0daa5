// SPDX-License-Identifier: BSD-3-Clause
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "codec/limits.h"

namespace tdref {
namespace {

// Python's JSON with null in the place of each number that JSON does not have, and what each null
// of it stands for, in their order.
struct StrictJson {
  std::string text;
  std::vector<Value> nulls;
};

StrictJson strict(std::string_view python) {
  static constexpr std::string_view kNull = "null";
  static constexpr std::string_view kNan = "NaN";
  static constexpr std::string_view kInfinity = "Infinity";
  StrictJson json;
  for (bool in_text = false; !python.empty();) {
    std::size_t taken = 1;
    if (in_text) {
      in_text = python[0] != '"';
      taken = python[0] == '\\' ? std::min<std::size_t>(2, python.size()) : 1;
    } else if (python[0] == '"') {
      in_text = true;
    } else if (python.starts_with(kNull)) {
      json.nulls.emplace_back();
      taken = kNull.size();
    } else if (python.starts_with(kNan) || python.starts_with(kInfinity)) {
      const bool is_nan = python[0] == 'N';
      const bool is_negative = !is_nan && json.text.ends_with('-');
      const auto infinity = std::numeric_limits<double>::infinity();
      json.nulls.emplace_back(is_nan ? std::numeric_limits<double>::quiet_NaN()
                                     : (is_negative ? -infinity : infinity));
      if (is_negative) {
        json.text.pop_back();
      }
      json.text += kNull;
      python.remove_prefix(is_nan ? kNan.size() : kInfinity.size());
      continue;
    }
    json.text += python.substr(0, taken);
    python.remove_prefix(taken);
  }
  return json;
}

void check_keys_differ(const Value::Dict& dict) {
  std::vector<const std::string*> keys;
  for (const auto& [key, value] : dict) {
    keys.push_back(key.get_if<std::string>());
  }
  const auto by_text = [](const std::string* a, const std::string* b) { return *a < *b; };
  std::sort(keys.begin(), keys.end(), by_text);
  const auto twice = std::adjacent_find(
      keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a == *b; });
  TORCH_CHECK_VALUE(
      twice == keys.end(), "JSON has the key '", twice == keys.end() ? "" : **twice, "' twice");
}

/// Is told by the parser what it reads, so that nothing is built that is not wanted.
class ValueBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// `nulls` are what the nulls stand for; without any, they are None.
  explicit ValueBuilder(const std::vector<Value>& nulls) : nulls_(nulls) {}

  Value take() { return std::move(root_); }

  bool null() override {
    return place(next_null_ < nulls_.size() ? nulls_[next_null_++] : Value());
  }
  bool boolean(bool data) override { return place(data); }
  bool number_integer(number_integer_t number) override { return place(number); }
  bool number_unsigned(number_unsigned_t number) override {
    TORCH_CHECK_VALUE(number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()},
                      "the integer ",
                      number,
                      " in JSON has more than 64 bits");
    return place(static_cast<std::int64_t>(number));
  }
  bool number_float(number_float_t number, const string_t& text) override {
    TORCH_CHECK_VALUE(text.find_first_of(".eE") != std::string::npos,
                      "the integer ",
                      text,
                      " in JSON has more than 64 bits");
    return place(number);
  }
  bool string(string_t& text) override { return place(std::move(text)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Value::Dict()); }
  bool key(string_t& key) override {
    open_.back().key = std::move(key);
    return true;
  }
  bool end_object() override {
    check_keys_differ(*open_.back().value.get_if<Value::Dict>());
    return close();
  }
  bool start_array(std::size_t) override { return open(Value::List()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position,
                   const std::string&,
                   const nlohmann::detail::exception&) override {
    TORCH_CHECK_VALUE(false, "this is no JSON, from byte ", position, " on");
  }

 private:
  struct Open {
    Value value;
    std::string key;  // of the item that comes next
  };

  bool open(Value container) {
    open_.push_back({std::move(container), {}});
    check_depth(static_cast<int>(open_.size()));
    return true;
  }

  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return place(std::move(value));
  }

  bool place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* list = open_.back().value.get_if<Value::List>()) {
      list->push_back(std::move(value));
    } else {
      auto* dict = open_.back().value.get_if<Value::Dict>();
      dict->emplace_back(std::move(open_.back().key), std::move(value));
    }
    return true;
  }

  const std::vector<Value>& nulls_;
  std::size_t next_null_ = 0;
  Value root_;
  std::vector<Open> open_;
};

}  // namespace

Value from_json(std::string_view text, JsonForm form) {
  StrictJson json;
  if (form == JsonForm::kPython) {
    json = strict(text);
    text = json.text;
  }
  ValueBuilder builder(json.nulls);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tdref
