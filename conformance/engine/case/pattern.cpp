// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/pattern.h"

#include <span>
#include <vector>

namespace tdconf {
namespace {

using Components = std::span<const std::string_view>;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> components;
  while (true) {
    const std::size_t slash = text.find('/');
    components.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return components;
    text.remove_prefix(slash + 1);
  }
}

bool component_matches(std::string_view pattern, std::string_view component) {
  if (pattern.empty()) return component.empty();
  if (pattern.front() == '*') {
    return component_matches(pattern.substr(1), component) ||
           (!component.empty() && component_matches(pattern, component.substr(1)));
  }
  return !component.empty() && pattern.front() == component.front() &&
         component_matches(pattern.substr(1), component.substr(1));
}

bool components_match(Components pattern, Components name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == "**") {
    return components_match(pattern.subspan(1), name) ||
           (!name.empty() && components_match(pattern, name.subspan(1)));
  }
  return !name.empty() && component_matches(pattern.front(), name.front()) &&
         components_match(pattern.subspan(1), name.subspan(1));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  return components_match(split(pattern), split(name));
}

}  // namespace tdconf
