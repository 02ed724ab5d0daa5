// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/axes.h"

#include <regex>
#include <set>

#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

/// Of an axis and of a value, in characters.
constexpr std::size_t kMaxLength = 64;
constexpr std::size_t kMaxExpansion = 1024;

void check_expansion(std::size_t count, const Node& axes) {
  if (count > kMaxExpansion) {
    refuse(axes.where,
           "axes",
           concat("more than ", kMaxExpansion, " combinations"),
           concat("at most ", kMaxExpansion));
  }
}

json read_value(const Node& node, const std::string& axis) {
  static const std::regex kNameable("[A-Za-z0-9_.:,+-]+");
  const std::string what = concat("axis `", axis, "`");
  if (node.scalar() == nullptr) refuse(node, what, "scalars");
  const std::string text = axis_value(*node.scalar());
  if (text.size() > kMaxLength || !std::regex_match(text, kNameable)) {
    refuse(node,
           what,
           concat("values of at most ", kMaxLength, " letters, digits and any of _ . : , + -"));
  }
  return *node.scalar();
}

std::vector<Scope> product(const Node& axes) {
  static const std::regex kName("[a-z_][a-z0-9_]*");
  std::vector<Scope> choices{{}};
  for (const auto& [key, values] : read_map(axes, "axes")) {
    const std::string axis = read_string(key, "the name of an axis");
    if (axis.size() > kMaxLength || !std::regex_match(axis, kName) || axis == "rank" ||
        axis == "world") {
      refuse(key, "axes", "names of small letters, digits and _, but not rank and world");
    }
    check_expansion(choices.size() * read_list(values, concat("axis `", axis, "`")).size(), values);
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
    check_expansion(choices.size(), *axes);
  }
  if (choices.empty()) refuse(*axes, "axes", "at least one mapping");
  return choices;
}

void check_axes_are_used(const Node& document) {
  const Node* axes = find_key(document, "axes");
  if (axes == nullptr) return;
  std::set<std::string> used;
  for (const auto& [key, value] : *document.map()) {
    if (&value != axes) used.merge(names_referred_to(value));
    used.merge(names_referred_to(key));
  }
  const auto check = [&](const Node& product) {
    for (const NodePair& pair : read_map(product, "axes")) {
      const std::string axis = read_string(pair.key, "the name of an axis");
      if (used.contains(axis)) continue;
      refuse(pair.key, "axes", concat("axes that the case uses; `$", axis, "` stands nowhere"));
    }
  };
  if (axes->list() == nullptr) return check(*axes);
  for (const Node& product : *axes->list()) check(product);
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
