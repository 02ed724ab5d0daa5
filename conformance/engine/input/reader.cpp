// SPDX-License-Identifier: BSD-3-Clause
#include "engine/input/reader.h"

#include <algorithm>

#include "values/text.h"

namespace tdconf {

using nlohmann::json;

MapReader::MapReader(const Node& node, std::string what) : node_(node), what_(std::move(what)) {
  if (node.map() == nullptr) refuse(node, what_, "a mapping");
}

const Node* MapReader::find(std::string_view key) const {
  for (const NodePair& pair : *node_.map()) {
    const json& name = *pair.key.scalar();
    if (name.is_string() && name.get_ref<const std::string&>() == key) return &pair.value;
  }
  return nullptr;
}

const Node* MapReader::optional(std::string_view key) {
  asked_.emplace_back(key);
  return find(key);
}

const Node& MapReader::required(std::string_view key) {
  const Node* found = optional(key);
  if (found == nullptr) {
    throw InputError(concat(to_string(node_.where), ": in ", what_, ": `", key, "` is missing"));
  }
  return *found;
}

void MapReader::finish() const {
  for (const NodePair& pair : *node_.map()) {
    const json& name = *pair.key.scalar();
    const bool is_known =
        name.is_string() &&
        std::ranges::find(asked_, name.get_ref<const std::string&>()) != asked_.end();
    if (!is_known) {
      refuse(pair.key.where, what_, concat("key ", describe(pair.key)), join(asked_, ", "));
    }
  }
}

std::string read_string(const Node& node, std::string_view what) {
  if (node.scalar() == nullptr || !node.scalar()->is_string()) refuse(node, what, "a string");
  return node.scalar()->get<std::string>();
}

std::int64_t read_integer(const Node& node, std::string_view what) {
  if (node.scalar() == nullptr || !node.scalar()->is_number_integer()) {
    refuse(node, what, "an integer");
  }
  return node.scalar()->get<std::int64_t>();
}

bool read_bool(const Node& node, std::string_view what) {
  if (node.scalar() == nullptr || !node.scalar()->is_boolean()) refuse(node, what, "true or false");
  return node.scalar()->get<bool>();
}

const Node::List& read_list(const Node& node, std::string_view what) {
  if (node.list() == nullptr) refuse(node, what, "a list");
  return *node.list();
}

const Node::Map& read_map(const Node& node, std::string_view what) {
  if (node.map() == nullptr) refuse(node, what, "a mapping");
  return *node.map();
}

std::vector<std::string> read_strings(const Node& node, std::string_view what) {
  std::vector<std::string> strings;
  for (const Node& element : read_list(node, what)) strings.push_back(read_string(element, what));
  return strings;
}

std::vector<std::int64_t> read_integers(const Node& node, std::string_view what) {
  std::vector<std::int64_t> integers;
  for (const Node& element : read_list(node, what)) integers.push_back(read_integer(element, what));
  return integers;
}

std::string read_one_of(const Node& node,
                        std::string_view what,
                        const std::vector<std::string>& allowed) {
  const json* scalar = node.scalar();
  if (scalar == nullptr || !scalar->is_string() ||
      std::ranges::find(allowed, scalar->get<std::string>()) == allowed.end()) {
    refuse(node, what, join(allowed, ", "));
  }
  return scalar->get<std::string>();
}

}  // namespace tdconf
