// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/axes.h"

#include <regex>

#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

json read_value(const Node& node, const std::string& axis) {
  static const std::regex kNameable("[A-Za-z0-9_.:,+-]+");
  const std::string what = concat("axis `", axis, "`");
  if (node.scalar() == nullptr) refuse(node, what, "scalars");
  if (!std::regex_match(axis_value(*node.scalar()), kNameable)) {
    refuse(node, what, "values of letters, digits and any of _ . : , + -");
  }
  return *node.scalar();
}

std::vector<Scope> product(const Node& axes) {
  static const std::regex kName("[a-z_][a-z0-9_]*");
  std::vector<Scope> choices{{}};
  for (const auto& [key, values] : read_map(axes, "axes")) {
    const std::string axis = read_string(key, "the name of an axis");
    if (!std::regex_match(axis, kName) || axis == "rank" || axis == "world") {
      refuse(key, "axes", "names of small letters, digits and _, but not rank and world");
    }
    std::vector<Scope> longer;
    for (const Scope& choice : choices) {
      for (const Node& value : read_list(values, concat("axis `", axis, "`"))) {
        Scope& chosen = longer.emplace_back(choice);
        chosen[axis] = read_value(value, axis);
      }
    }
    if (longer.empty()) refuse(values, concat("axis `", axis, "`"), "at least one value");
    choices = std::move(longer);
  }
  return choices;
}

}  // namespace

std::vector<Scope> choices_of_axes(const Node* axes) {
  if (axes == nullptr) return {{}};
  if (axes->map() != nullptr) return product(*axes);
  std::vector<Scope> choices;
  for (const Node& alternative : read_list(*axes, "axes")) {
    std::vector<Scope> more = product(alternative);
    choices.insert(choices.end(), more.begin(), more.end());
  }
  if (choices.empty()) refuse(*axes, "axes", "at least one mapping");
  return choices;
}

std::string axis_value(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string expanded_name(const std::string& id, const Scope& choice) {
  std::string name = id;
  for (const auto& [axis, value] : choice) name += concat("/", axis, "=", axis_value(value));
  return name;
}

}  // namespace tdconf
