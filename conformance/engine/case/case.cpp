// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/case.h"

#include <algorithm>
#include <set>

#include "values/text.h"

namespace tdconf {
namespace {

/// Adds the kinds and forms that occur in a tree.
void collect(const Tree& tree, std::set<std::string>& needed) {
  if (const TensorLeaf* leaf = tree.tensor()) {
    if (leaf->form != "plain") needed.insert(concat("leaf:", leaf->form));
  } else if (tree.non_tensor() != nullptr) {
    needed.insert("kind:non_tensor");
  } else if (const LazyStack* stack = tree.lazy_stack()) {
    needed.insert("kind:lazy_stack");
    for (const Tree& member : stack->members) collect(member, needed);
  } else {
    needed.insert(concat("kind:", tree.dict()->kind));
    for (const Entry& entry : tree.dict()->entries) collect(entry.value, needed);
  }
}

}  // namespace

std::string to_string(Level level) {
  switch (level) {
    case Level::kMust:
      return "must";
    case Level::kSound:
      return "sound";
    case Level::kCompat:
      return "compat";
    case Level::kObserve:
      return "observe";
  }
  return "";
}

nlohmann::json to_json(const std::vector<Group>& groups) {
  nlohmann::json list = nlohmann::json::array();
  for (const Group& group : groups) {
    list.push_back({{"name", group.name},
                    {"kind", group.kind},
                    {"ranks", group.ranks},
                    {"backend", group.backend}});
  }
  return list;
}

std::string describe_step(const Case& c, StepId id) {
  const Step& step =
      c.programs.at(static_cast<std::size_t>(id.rank)).at(static_cast<std::size_t>(id.index));
  return concat("rank ", id.rank, " step ", id.index + 1, " (", step.op, ")");
}

std::vector<std::string> needed_capabilities(const Case& c, int rank) {
  std::set<std::string> needed;
  for (const Step& step : c.programs.at(static_cast<std::size_t>(rank))) {
    needed.insert(concat("op:", step.op));
    if (step.op == "make") collect(*step.made, needed);
  }
  for (const Group& group : c.groups) {
    if (group.kind == "standalone" && std::ranges::find(group.ranks, rank) == group.ranks.end()) {
      continue;
    }
    needed.insert(concat("group:", group.kind));
    needed.insert(concat("backend:", group.backend));
  }
  return {needed.begin(), needed.end()};
}

}  // namespace tdconf
