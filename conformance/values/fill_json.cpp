// SPDX-License-Identifier: BSD-3-Clause
#include "values/fill_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "values/hex.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const json& got, const std::string& allowed) {
  throw std::invalid_argument(concat("fill: got ", got.dump(), ", allowed: ", allowed));
}

std::int64_t integer(const json& value) {
  if (!value.is_number_integer()) refuse(value, "an integer");
  return value.get<std::int64_t>();
}

Ramp ramp_from_json(const json& value) {
  if (!value.is_object() || value.size() != 2 || !value.contains("start") ||
      !value.contains("step"))
    refuse(value, R"({"start": integer, "step": integer})");
  return Ramp{integer(value.at("start")), integer(value.at("step"))};
}

Constant constant_from_json(const json& value) {
  if (value.is_number_integer()) return Constant{value.get<std::int64_t>()};
  if (value.is_number_float()) return Constant{value.get<double>()};
  refuse(value, "a number");
}

Scramble scramble_from_json(const json& value) {
  if (!value.is_number_unsigned()) refuse(value, "a non-negative integer");
  return Scramble{value.get<std::uint64_t>()};
}

}  // namespace

Fill fill_from_json(const json& value) {
  constexpr const char* kAllowed = "one of ramp, const, bits, scramble, and beside it invert";
  if (!value.is_object()) refuse(value, kAllowed);
  Fill fill;
  int formulas = 0;
  for (const auto& [name, argument] : value.items()) {
    if (name == "invert") {
      if (!argument.is_boolean()) refuse(argument, "true or false for invert");
      fill.invert = argument.get<bool>();
      continue;
    }
    ++formulas;
    if (name == "ramp") {
      fill.formula = ramp_from_json(argument);
    } else if (name == "const") {
      fill.formula = constant_from_json(argument);
    } else if (name == "bits") {
      if (!argument.is_string()) refuse(argument, "a string of hex digits");
      fill.formula = Bits{decode_hex(argument.get<std::string>())};
    } else if (name == "scramble") {
      fill.formula = scramble_from_json(argument);
    } else {
      refuse(name, kAllowed);
    }
  }
  if (formulas != 1) refuse(value, kAllowed);
  return fill;
}

json fill_to_json(const Fill& fill) {
  struct Writer {
    json operator()(const Ramp& ramp) const {
      return {{"ramp", {{"start", ramp.start}, {"step", ramp.step}}}};
    }
    json operator()(const Constant& constant) const {
      return {{"const", std::visit([](auto value) { return json(value); }, constant.value)}};
    }
    json operator()(const Bits& bits) const { return {{"bits", encode_hex(bits.pattern)}}; }
    json operator()(const Scramble& scramble) const { return {{"scramble", scramble.seed}}; }
  };
  json written = std::visit(Writer{}, fill.formula);
  if (fill.invert) written["invert"] = true;
  return written;
}

}  // namespace tdconf
