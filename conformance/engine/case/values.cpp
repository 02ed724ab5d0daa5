// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/values.h"

#include <charconv>
#include <numeric>
#include <stdexcept>

#include "engine/case/lookup.h"
#include "engine/case/value_parser.h"
#include "engine/input/reader.h"
#include "engine/input/substitute.h"
#include "engine/value/reduce.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// An adapter may refuse a request that nests deeper.
void check_nesting(const Tree& tree, const std::string& name, const Node& node) {
  constexpr int kMostInARequest = 64;
  // The request and its arguments lie around the tree.
  constexpr int kMost = kMostInARequest - 2;
  const int levels = nesting(tree_to_json(tree));
  if (levels <= kMost) return;
  refuse(node.where,
         concat("value `", name, "`"),
         concat(levels, " levels of JSON, as the protocol writes it"),
         concat("at most ", kMost, ", about 20 levels of tensordicts"));
}

std::vector<int> all_ranks(int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

ValueTable::ValueTable(const Node* values, int world, const std::vector<Group>& groups)
    : world_(world), groups_(groups) {
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
  check_nesting(*tree, name, *node->second);
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
  Tree tree = poisoned(*evaluate(*poison, rank, all_ranks(world_)));
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

TreePtr ValueTable::evaluate(const Node& expr, int rank, const std::vector<int>& members) {
  if (expr.map() == nullptr) return evaluate_name(expr, rank);
  try {
    const bool is_reduction = find_key(expr, "reduced") != nullptr;
    return std::make_shared<const Tree>(is_reduction ? evaluate_reduction(expr, rank, members)
                                                     : evaluate_stack(expr, rank, members));
  } catch (const std::invalid_argument& error) {
    throw InputError(concat(to_string(expr.where), ": in an expression: ", error.what()));
  }
}

TreePtr ValueTable::evaluate_name(const Node& expr, int rank) {
  const std::string text = read_string(expr, "an expression");
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return value(text, rank, expr.where);
  return value(text.substr(0, at), read_rank(expr, text.substr(at + 1)), expr.where);
}

Tree ValueTable::evaluate_stack(const Node& expr, int rank, const std::vector<int>& members) {
  MapReader reader(expr, "an expression");
  const Node& rows_node = reader.required("stack");
  reader.finish();
  return stacked(rows(rows_node, rank, members));
}

Tree ValueTable::evaluate_reduction(const Node& expr, int rank, const std::vector<int>& members) {
  MapReader reader(expr, "an expression");
  const Node& node = reader.required("reduced");
  const std::string name = read_string(node, "reduced");
  const Node* op = reader.optional("op");
  const Node* group = reader.optional("group");
  reader.finish();
  const std::string op_name = op == nullptr ? "SUM" : read_one_of(*op, "op", reduce_op_names());
  std::vector<TreePtr> values;
  for (const int member : group == nullptr ? members : find_group(*group, groups_).ranks) {
    values.push_back(value(name, member, node.where));
  }
  return reduced(*value(name, rank, node.where), values, reduce_op_named(op_name));
}

std::vector<TreePtr> ValueTable::rows(const Node& node, int rank, const std::vector<int>& members) {
  std::vector<TreePtr> rows;
  if (const Node::List* list = node.list()) {
    for (const Node& element : *list) rows.push_back(evaluate(element, rank, members));
    return rows;
  }
  constexpr std::string_view kOthers = "@others";
  const std::string text = read_string(node, "stack");
  if (!text.ends_with(kOthers)) refuse(node, "stack", "`value@others` or a list of expressions");
  const std::string name = text.substr(0, text.size() - kOthers.size());
  for (const int member : members) {
    if (member != rank) rows.push_back(value(name, member, node.where));
  }
  return rows;
}

}  // namespace tdconf
