// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/pattern.h"

#include <functional>
#include <optional>
#include <vector>

namespace tdconf {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> components;
  while (true) {
    const std::size_t slash = text.find('/');
    components.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return components;
    text.remove_prefix(slash + 1);
  }
}

/// Only the last star is ever widened: what an earlier one could gain, the last one gains too. The
/// time is therefore at most the product of the two lengths.
template <typename Pattern, typename Name, typename IsStar, typename Fits>
bool matches_with_stars(const Pattern& pattern, const Name& name, IsStar is_star, Fits fits) {
  std::size_t at = 0;
  std::size_t next = 0;
  std::optional<std::size_t> star;
  std::size_t covered = 0;
  while (next < name.size()) {
    if (at < pattern.size() && is_star(pattern[at])) {
      star = at++;
      covered = next;
    } else if (at < pattern.size() && fits(pattern[at], name[next])) {
      ++at;
      ++next;
    } else if (star) {
      at = *star + 1;
      next = ++covered;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && is_star(pattern[at])) ++at;
  return at == pattern.size();
}

bool component_matches(std::string_view pattern, std::string_view component) {
  return matches_with_stars(
      pattern, component, [](char c) { return c == '*'; }, std::equal_to<>());
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  return matches_with_stars(
      split(pattern),
      split(name),
      [](std::string_view component) { return component == "**"; },
      component_matches);
}

}  // namespace tdconf
