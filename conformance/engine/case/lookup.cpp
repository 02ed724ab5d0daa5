// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/lookup.h"

#include <algorithm>
#include <numeric>

#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {

int parse_rank(const Node& node, std::string_view what, int world) {
  const std::int64_t rank = read_integer(node, what);
  if (rank < 0 || rank >= world) refuse(node, what, concat("ranks 0 to ", world - 1));
  return static_cast<int>(rank);
}

const Group& find_group(const Node& node, const std::vector<Group>& groups) {
  const auto found = std::ranges::find(groups, read_string(node, "group"), &Group::name);
  if (found != groups.end()) return *found;
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.name);
  refuse(node, "group", concat("the groups ", join(names, ", ")));
}

std::vector<int> members_of(const std::string& name, const std::vector<Group>& groups, int world) {
  const auto group = std::ranges::find(groups, name, &Group::name);
  if (group != groups.end()) return group->ranks;
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

Path parse_key(const Node& node) {
  Path path;
  for (const Node& component : read_list(node, "key")) {
    const nlohmann::json* scalar = component.scalar();
    const bool is_member = scalar != nullptr && scalar->is_number_integer();
    path.push_back(is_member ? scalar->dump() : read_string(component, "key"));
  }
  return path;
}

const TensorLeaf& find_leaf(const Tree& tree, const Node& key) {
  const TensorLeaf* found = find_tensor(tree, parse_key(key));
  if (found != nullptr) return *found;
  std::vector<std::string> keys;
  for_each_tensor(tree, [&](const Path& at, const TensorLeaf&) { keys.push_back(dotted(at)); });
  refuse(key, "key", concat("the tensors ", join(keys, ", ")));
}

}  // namespace tdconf
