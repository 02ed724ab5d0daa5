// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/json.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "codec/limits.h"
#include "tree/visit.h"

namespace tdref {
namespace {

class JsonWriter {
 public:
  void write(const Value& value) {
    value.visit(Overloaded{
        [&](std::monostate) { text_ += "null"; },
        [&](double number) {
          TORCH_CHECK_VALUE(std::isfinite(number), "JSON has no number ", number);
          write_scalar(number);
        },
        [](const Value::Bytes&) { TORCH_CHECK_TYPE(false, "JSON has no bytes"); },
        [](const PythonClass&) { TORCH_CHECK_TYPE(false, "JSON has no classes"); },
        [&](const Value::List& list) { write_list(list); },
        [&](const Value::Tuple& tuple) { write_list(tuple.items); },
        [&](const Value::Dict& dict) { write_dict(dict); },
        [&](const auto& scalar) { write_scalar(scalar); },
    });
  }

  std::string take() { return std::move(text_); }

 private:
  void write_scalar(const nlohmann::json& scalar) {
    text_ += scalar.dump(-1, ' ', /*ensure_ascii=*/true);
  }

  void write_list(const std::vector<Value>& items) {
    text_ += '[';
    for (const auto& item : items) {
      write_comma('[');
      write(item);
    }
    text_ += ']';
  }

  void write_dict(const Value::Dict& items) {
    text_ += '{';
    for (const auto& [key, value] : items) {
      const auto* name = key.get_if<std::string>();
      TORCH_CHECK_TYPE(
          name != nullptr, "JSON has no keys of type ", key.type_name(), "; allowed is str");
      write_comma('{');
      write_scalar(*name);
      text_ += ':';
      write(value);
    }
    text_ += '}';
  }

  void write_comma(char begin) {
    if (text_.back() != begin) {
      text_ += ',';
    }
  }

  std::string text_;
};

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
  Value take() { return std::move(root_); }

  bool null() override { return place({}); }
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

  Value root_;
  std::vector<Open> open_;
};

}  // namespace

std::string to_json(const Value& value) {
  try {
    JsonWriter writer;
    writer.write(value);
    return writer.take();
  } catch (const nlohmann::json::exception& error) {
    TORCH_CHECK_VALUE(false, "JSON cannot hold this text: ", error.what());
  }
}

Value from_json(std::string_view text) {
  ValueBuilder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tdref
