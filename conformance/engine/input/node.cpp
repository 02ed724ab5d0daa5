// SPDX-License-Identifier: BSD-3-Clause
#include "engine/input/node.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr int kMaxNodes = 200'000;

/// Types a plain scalar as the core schema of YAML 1.2 does.
json typed(const std::string& text, const Location& where) {
  static const std::regex kInteger("[-+]?(0|[1-9][0-9]*)");
  static const std::regex kFloat(R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)");
  static const std::regex kDisputed("(?:yes|no|on|off)", std::regex::icase);
  // Nothing that is typed is longer, and std::regex recurses for every character.
  constexpr std::size_t kLongestTyped = 64;
  if (text.size() > kLongestTyped) return text;
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  if (std::regex_match(text, kDisputed)) {
    refuse(where, "a scalar", concat("`", text, "`"), "true, false, or the word in quotes");
  }
  try {
    if (std::regex_match(text, kInteger)) return std::stoll(text);
    if (std::regex_match(text, kFloat)) return std::stod(text);
  } catch (const std::out_of_range&) {
    refuse(where, "a scalar", concat("`", text, "`"), "numbers of at most 64 bits");
  }
  return text;
}

void check_utf8(const std::string& text, const std::string& file) {
  try {
    static_cast<void>(json(text).dump());
  } catch (const json::type_error& error) {
    throw InputError(concat(file, ": not UTF-8: ", error.what()));
  }
}

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(std::make_shared<const std::string>(file)) {}

  Node convert(const YAML::Node& yaml, int depth = 0) {
    Node node{locate(yaml.Mark()), json(nullptr)};
    // An alias is copied wherever it stands, so that a short file can become a large one.
    if (++nodes_ > kMaxNodes) {
      refuse(node.where, "a file", "more values", concat(kMaxNodes, " values, aliases unfolded"));
    }
    if (depth > kMaxDepth) refuse(node.where, "a document", "deeper nesting", "64 levels");
    if (yaml.IsScalar()) {
      const bool is_plain = yaml.Tag() == "?";
      node.content = is_plain ? typed(yaml.Scalar(), node.where) : json(yaml.Scalar());
    } else if (yaml.IsSequence()) {
      Node::List list;
      for (const YAML::Node& element : yaml) list.push_back(convert(element, depth + 1));
      node.content = std::move(list);
    } else if (yaml.IsMap()) {
      node.content = convert_map(yaml, depth);
    }
    return node;
  }

  Location locate(const YAML::Mark& mark) const { return {file_, mark.line + 1}; }

 private:
  Node::Map convert_map(const YAML::Node& yaml, int depth) {
    Node::Map map;
    for (const auto& entry : yaml) {
      Node key = convert(entry.first, depth + 1);
      if (key.scalar() == nullptr) refuse(key, "a mapping", "scalars as keys");
      for (const NodePair& earlier : map) {
        if (*earlier.key.scalar() == *key.scalar()) {
          refuse(key.where, "a mapping", concat("key ", describe(key), " twice"), "each key once");
        }
      }
      map.push_back({std::move(key), convert(entry.second, depth + 1)});
    }
    return map;
  }

  std::shared_ptr<const std::string> file_;
  int nodes_ = 0;
};

}  // namespace

std::string to_string(const Location& where) {
  return concat(*where.file, ":", where.line);
}

std::vector<Node> parse_yaml(const std::string& text, const std::string& file) {
  Converter converter(file);
  check_utf8(text, file);
  try {
    std::vector<Node> documents;
    for (const YAML::Node& yaml : YAML::LoadAll(text)) documents.push_back(converter.convert(yaml));
    return documents;
  } catch (const YAML::Exception& error) {
    throw InputError(concat(to_string(converter.locate(error.mark)), ": not YAML: ", error.msg));
  }
}

std::vector<Node> parse_yaml_file(const std::string& path) {
  // A folder or a pipe would read as an empty document, or for ever.
  if (!std::filesystem::is_regular_file(path)) throw InputError(concat(path, ": is not a file"));
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError(concat(path, ": cannot be read"));
  return parse_yaml(text.str(), path);
}

const Node* find_key(const Node& node, std::string_view name) {
  if (node.map() == nullptr) return nullptr;
  for (const auto& [key, value] : *node.map()) {
    if (*key.scalar() == name) return &value;
  }
  return nullptr;
}

json to_json(const Node& node) {
  if (const json* scalar = node.scalar()) return *scalar;
  if (const Node::List* list = node.list()) {
    json array = json::array();
    for (const Node& element : *list) array.push_back(to_json(element));
    return array;
  }
  json object = json::object();
  for (const auto& [key, value] : *node.map()) {
    const json& name = *key.scalar();
    object[name.is_string() ? name.get<std::string>() : name.dump()] = to_json(value);
  }
  return object;
}

std::string describe(const Node& node) {
  constexpr std::size_t kShown = 60;
  std::string text = to_json(node).dump();
  if (text.size() > kShown) text = concat(beginning_of(text, kShown), "...");
  return text;
}

void refuse(const Location& where,
            std::string_view what,
            std::string_view got,
            std::string_view allowed) {
  throw InputError(concat(to_string(where), ": in ", what, ": got ", got, ", allowed: ", allowed));
}

void refuse(const Node& node, std::string_view what, std::string_view allowed) {
  refuse(node.where, what, describe(node), allowed);
}

}  // namespace tdconf
