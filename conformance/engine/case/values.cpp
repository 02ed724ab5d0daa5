// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/values.h"

#include <charconv>
#include <numeric>
#include <stdexcept>

#include "engine/case/value_parser.h"
#include "engine/input/reader.h"
#include "engine/input/substitute.h"
#include "values/text.h"

namespace tdconf {
namespace {

std::vector<int> all_but(int rank, int world) {
  std::vector<int> others;
  for (int other = 0; other < world; ++other) {
    if (other != rank) others.push_back(other);
  }
  return others;
}

}  // namespace

ValueTable::ValueTable(const Node* values, int world) : world_(world) {
  if (values == nullptr) return;
  for (const NodePair& pair : read_map(*values, "values")) {
    nodes_[read_string(pair.key, "the name of a value")] = &pair.value;
  }
}

TreePtr ValueTable::value(const std::string& name, int rank, const Location& asked_at) {
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, unused] : nodes_) names.push_back(known);
    refuse(
        asked_at, "a reference", concat("`", name, "`"), concat("the values ", join(names, ", ")));
  }
  const std::pair key(name, rank);
  if (const auto found = built_.find(key); found != built_.end()) return found->second;
  if (!in_progress_.insert(key).second) {
    refuse(*node->second, concat("value `", name, "`"), "values that do not refer to themselves");
  }
  TreePtr tree = std::make_shared<const Tree>(build(name, *node->second, rank));
  in_progress_.erase(key);
  built_[key] = tree;
  return tree;
}

Tree ValueTable::build(const std::string& name, const Node& raw, int rank) {
  const Node node = substitute(raw, {{"rank", rank}});
  const std::string what = concat("value `", name, "`");
  MapReader reader(node, what);
  const Node* poison = reader.optional("poison");
  if (poison == nullptr) return parse_value(node, what, rank, classes_);
  const auto flag = [&](const char* key) {
    const Node* given = reader.optional(key);
    return given != nullptr && read_bool(*given, concat(what, ": ", key));
  };
  const bool is_consolidated = flag("consolidated");
  const bool is_locked = flag("locked");
  const bool is_reversed = flag("reversed");
  reader.finish();
  // A value is made outside any group, so that `@others` are all other ranks of the world.
  Tree tree = poisoned(*evaluate(*poison, rank, all_but(rank, world_)));
  if (is_reversed) tree = with_entries_reversed(tree);
  if (auto* dict = std::get_if<Dict>(&tree.node)) {
    dict->consolidated = is_consolidated;
    dict->locked = is_locked;
  } else if (is_consolidated || is_locked) {
    refuse(node, what, "`consolidated` and `locked` beside the poison of a tensordict");
  }
  return tree;
}

int ValueTable::read_rank(const Node& node, const std::string& text) const {
  int rank = -1;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (status != std::errc() || end != text.data() + text.size() || rank < 0 || rank >= world_) {
    refuse(node, "the rank after `@`", concat("ranks 0 to ", world_ - 1));
  }
  return rank;
}

TreePtr ValueTable::evaluate(const Node& expr, int rank, const std::vector<int>& others) {
  if (expr.map() != nullptr) {
    MapReader reader(expr, "an expression");
    const Node& rows_node = reader.required("stack");
    reader.finish();
    try {
      return std::make_shared<const Tree>(stacked(rows(rows_node, rank, others)));
    } catch (const std::invalid_argument& error) {
      throw InputError(concat(to_string(expr.where), ": in an expression: ", error.what()));
    }
  }
  const std::string text = read_string(expr, "an expression");
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return value(text, rank, expr.where);
  return value(text.substr(0, at), read_rank(expr, text.substr(at + 1)), expr.where);
}

std::vector<TreePtr> ValueTable::rows(const Node& node, int rank, const std::vector<int>& others) {
  std::vector<TreePtr> rows;
  if (const Node::List* list = node.list()) {
    for (const Node& element : *list) rows.push_back(evaluate(element, rank, others));
    return rows;
  }
  constexpr std::string_view kOthers = "@others";
  const std::string text = read_string(node, "stack");
  if (!text.ends_with(kOthers)) refuse(node, "stack", "`value@others` or a list of expressions");
  const std::string name = text.substr(0, text.size() - kOthers.size());
  for (const int other : others) rows.push_back(value(name, other, node.where));
  return rows;
}

}  // namespace tdconf
