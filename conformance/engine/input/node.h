// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tdconf {

/// Something that a person wrote (a case, an expectation, an option) is not valid.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a piece of YAML stands. Lines count from 1.
struct Location {
  std::shared_ptr<const std::string> file;
  int line = 0;
};

std::string to_string(const Location& where);

struct NodePair;

/// One piece of a YAML document. A scalar is a JSON null, boolean, integer, float or string.
struct Node {
  using List = std::vector<Node>;
  using Map = std::vector<NodePair>;

  Location where;
  std::variant<nlohmann::json, List, Map> content;

  const nlohmann::json* scalar() const { return std::get_if<nlohmann::json>(&content); }
  const List* list() const { return std::get_if<List>(&content); }
  const Map* map() const { return std::get_if<Map>(&content); }
  bool is_null() const { return scalar() != nullptr && scalar()->is_null(); }
};

struct NodePair {
  Node key;
  Node value;
};

/// Reads every document of a YAML text.
///
/// Errors  InputError with file and line: broken YAML, a key given twice in one mapping, a key that
///         is not a scalar, or a word such as `yes` that YAML versions read differently.
std::vector<Node> parse_yaml(const std::string& text, const std::string& file);

/// Reads a file with parse_yaml().
///
/// Errors  InputError: the file cannot be read.
std::vector<Node> parse_yaml_file(const std::string& path);

/// Returns what stands under a key, or null when there is no such key or no mapping.
const Node* find_key(const Node& node, std::string_view name);

/// Writes the node as JSON; keys become strings.
nlohmann::json to_json(const Node& node);

/// Shows a node in an error message, on one line and not too long.
std::string describe(const Node& node);

/// Throws InputError `file:line: in WHAT: got GOT, allowed: ALLOWED`.
[[noreturn]] void refuse(const Location& where,
                         std::string_view what,
                         std::string_view got,
                         std::string_view allowed);
[[noreturn]] void refuse(const Node& node, std::string_view what, std::string_view allowed);

}  // namespace tdconf
