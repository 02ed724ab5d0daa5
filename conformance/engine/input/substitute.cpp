// SPDX-License-Identifier: BSD-3-Clause
#include "engine/input/substitute.h"

#include <optional>
#include <regex>
#include <vector>

#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

std::string names_in(const Scope& scope) {
  std::vector<std::string> names;
  for (const auto& [name, value] : scope) names.push_back(concat("$", name));
  return join(names, ", ");
}

std::int64_t add(std::int64_t value, const std::string& difference, const Location& where) {
  std::int64_t sum = 0;
  try {
    if (!__builtin_add_overflow(value, std::stoll(difference), &sum)) return sum;
  } catch (const std::out_of_range&) {
    // refused below
  }
  refuse(where, "a substitution", concat(value, difference), "numbers of at most 64 bits");
}

/// `$NAME`, and what is added to it if anything is.
struct Reference {
  std::string name;
  std::string difference;
};

std::optional<Reference> parse_reference(const std::string& text) {
  static const std::regex kReference(R"(\$([a-z_][a-z0-9_]*)([+-][0-9]+)?)");
  // Most texts hold no reference, and std::regex recurses for every character.
  constexpr std::size_t kLongestReference = 256;
  std::smatch match;
  if (text.size() > kLongestReference || !text.starts_with('$') ||
      !std::regex_match(text, match, kReference)) {
    return std::nullopt;
  }
  return Reference{match[1], match[2]};
}

/// Returns what `text` stands for: `$NAME`, `$NAME+N` and `$NAME-N` for a value, other text for
/// itself.
json substitute_reference(const std::string& text, const Location& where, const Scope& scope) {
  const std::optional<Reference> reference = parse_reference(text);
  if (!reference) return text;
  const auto found = scope.find(reference->name);
  if (found == scope.end()) {
    if (reference->name == "rank") return text;
    refuse(where, "a substitution", concat("`", text, "`"), names_in(scope));
  }
  if (reference->difference.empty()) return found->second;
  if (!found->second.is_number_integer()) {
    refuse(where,
           "a substitution",
           concat("`", text, "` of ", found->second.dump()),
           "integers to add to");
  }
  return add(found->second.get<std::int64_t>(), reference->difference, where);
}

void add_names(const Node& node, std::set<std::string>& names) {
  if (const json* scalar = node.scalar()) {
    if (!scalar->is_string()) return;
    const auto text = scalar->get<std::string>();
    // Without an `@` both are the whole text.
    const auto at = text.rfind('@');
    for (const std::string& half : {text.substr(0, at), text.substr(at + 1)}) {
      if (const auto reference = parse_reference(half)) names.insert(reference->name);
    }
  } else if (const Node::List* list = node.list()) {
    for (const Node& element : *list) add_names(element, names);
  } else {
    for (const auto& [key, value] : *node.map()) {
      add_names(key, names);
      add_names(value, names);
    }
  }
}

json substitute_string(const std::string& text, const Location& where, const Scope& scope) {
  const auto at = text.rfind('@');
  if (at == std::string::npos) return substitute_reference(text, where, scope);
  const auto side = [&](const std::string& half) {
    const json value = substitute_reference(half, where, scope);
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  return concat(side(text.substr(0, at)), "@", side(text.substr(at + 1)));
}

}  // namespace

Node substitute(const Node& node, const Scope& scope) {
  Node result{node.where, json(nullptr)};
  if (const json* scalar = node.scalar()) {
    result.content = scalar->is_string()
                         ? substitute_string(scalar->get<std::string>(), node.where, scope)
                         : *scalar;
  } else if (const Node::List* list = node.list()) {
    Node::List elements;
    for (const Node& element : *list) elements.push_back(substitute(element, scope));
    result.content = std::move(elements);
  } else {
    Node::Map map;
    for (const auto& [key, value] : *node.map()) {
      map.push_back({substitute(key, scope), substitute(value, scope)});
    }
    result.content = std::move(map);
  }
  return result;
}

std::set<std::string> names_referred_to(const Node& node) {
  std::set<std::string> names;
  add_names(node, names);
  return names;
}

}  // namespace tdconf
