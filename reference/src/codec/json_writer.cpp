// SPDX-License-Identifier: BSD-3-Clause
#include <c10/util/Exception.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "codec/class_text.h"
#include "codec/json.h"
#include "codec/limits.h"
#include "tree/visit.h"

namespace tdref {
namespace {

std::string digits_of(double number, std::chars_format format) {
  std::array<char, 32> digits{};  // 24 are enough for the shortest form of any double
  const auto end = std::to_chars(digits.begin(), digits.end(), number, format).ptr;
  return {digits.begin(), end};
}

// The digits that repr() has: as few as tell the number, with an exponent below -4 and from 16 on.
std::string repr(double number) {
  if (std::isnan(number)) {
    return "NaN";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-Infinity" : "Infinity";
  }
  auto text = digits_of(number, std::chars_format::scientific);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (-4 <= exponent && exponent < 16) {
    text = digits_of(number, std::chars_format::fixed);
    text += text.find('.') == std::string::npos ? ".0" : "";
  }
  return text;
}

class JsonWriter {
 public:
  explicit JsonWriter(JsonForm form) : form_(form) {}

  /// `depth` counts the lists and objects that `value` lies in.
  void write(const Value& value, int depth) {
    value.visit(Overloaded{
        [&](std::monostate) { text_ += "null"; },
        [&](double number) { write_number(number); },
        [](const Value::Bytes&) { TORCH_CHECK_TYPE(false, "JSON has no bytes"); },
        [&](const PythonClass& cls) {
          TORCH_CHECK_TYPE(form_ == JsonForm::kPython, "JSON has no classes");
          write_scalar(to_text(cls));
        },
        [&](const Value::List& list) { write_list(list, depth + 1); },
        [&](const Value::Tuple& tuple) { write_list(tuple.items, depth + 1); },
        [&](const Value::Dict& dict) { write_dict(dict, depth + 1); },
        [&](const auto& scalar) { write_scalar(scalar); },
    });
  }

  std::string take() { return std::move(text_); }

 private:
  void write_scalar(const nlohmann::json& scalar) {
    text_ += scalar.dump(-1, ' ', /*ensure_ascii=*/true);
  }

  void write_number(double number) {
    if (form_ == JsonForm::kPython) {
      text_ += repr(number);
      return;
    }
    TORCH_CHECK_VALUE(std::isfinite(number), "JSON has no number ", number);
    write_scalar(number);
  }

  void write_list(const std::vector<Value>& items, int depth) {
    check_depth(depth);
    text_ += '[';
    for (const auto& item : items) {
      write_comma('[');
      write(item, depth);
    }
    text_ += ']';
  }

  void write_dict(const Value::Dict& items, int depth) {
    check_depth(depth);
    text_ += '{';
    for (const auto& [key, value] : items) {
      const auto* name = key.get_if<std::string>();
      TORCH_CHECK_TYPE(
          name != nullptr, "JSON has no keys of type ", key.type_name(), "; allowed is str");
      write_comma('{');
      write_scalar(*name);
      write_separator(':');
      write(value, depth);
    }
    text_ += '}';
  }

  void write_comma(char begin) {
    if (text_.back() != begin) {
      write_separator(',');
    }
  }

  void write_separator(char separator) {
    text_ += separator;
    if (form_ == JsonForm::kPython) {
      text_ += ' ';
    }
  }

  JsonForm form_;
  std::string text_;
};

}  // namespace

std::string to_json(const Value& value, JsonForm form) {
  try {
    JsonWriter writer(form);
    writer.write(value, 0);
    return writer.take();
  } catch (const nlohmann::json::exception& error) {
    TORCH_CHECK_VALUE(false, "JSON cannot hold this text: ", error.what());
  }
}

}  // namespace tdref
