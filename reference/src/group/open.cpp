// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/group.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "group/backend_name.h"
#include "group/connect.h"
#include "group/state.h"

namespace tdref {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

StorePtr under(std::string prefix, const StorePtr& store) {
  return c10::make_intrusive<c10d::PrefixStore>(std::move(prefix), store);
}

// Whether gloo connects two ranks when they first need it: then opening a group is no barrier, and
// a rank cannot know which others have offered to compare.
bool connects_late() {
  const char* setting = std::getenv("TORCH_GLOO_LAZY_INIT");
  return setting != nullptr && std::string(setting) == "1";
}

// Connects a group whose other fields are set, and with it those of its ranks that compare.
void connect_members(Group::State& state, const StorePtr& store, bool agree_on_structure) {
  Agreement::Members members{store, state.group_rank, {}};
  for (int rank = 0; rank < state.size; ++rank) {
    members.names.push_back(state.kind == Group::Kind::kStandalone
                                ? c10::str("group rank ", rank)
                                : c10::str("rank ", state.global_ranks.at(rank)));
  }
  const bool compares = agree_on_structure && !connects_late();
  if (compares) {
    Agreement::offer(members);
  }
  state.connection.backend = connect(store, state.group_rank, state.size, state.timeout);
  if (compares) {
    state.agreement = std::make_shared<Agreement>(members, state.timeout);
  }
}

void check_rank(int rank, int size) {
  TORCH_CHECK_VALUE(size > 0 && rank >= 0 && rank < size,
                    "rank ",
                    rank,
                    " is not in a group of ",
                    size,
                    "; ranks are 0 to size - 1");
}

void check_members(const std::vector<int>& sorted_ranks, int world_size) {
  TORCH_CHECK_VALUE(!sorted_ranks.empty(), "a group has at least one rank");
  TORCH_CHECK_VALUE(sorted_ranks.front() >= 0 && sorted_ranks.back() < world_size,
                    "the ranks ",
                    sorted_ranks,
                    " are not all in a world of ",
                    world_size);
  TORCH_CHECK_VALUE(
      std::adjacent_find(sorted_ranks.begin(), sorted_ranks.end()) == sorted_ranks.end(),
      "the ranks ",
      sorted_ranks,
      " name one rank twice");
}

}  // namespace

Group open_standalone(const StorePtr& store,
                      int group_rank,
                      int size,
                      const GroupOptions& options) {
  check_rank(group_rank, size);
  auto state = std::make_shared<Group::State>();
  state->kind = Group::Kind::kStandalone;
  state->backend = parse_backend_name(options.backend).name;
  state->timeout = options.timeout;
  state->size = size;
  state->group_rank = group_rank;
  connect_members(*state, store, options.agree_on_structure);
  return Group(std::move(state));
}

World World::init_process_group(const StorePtr& store,
                                int rank,
                                int world_size,
                                const GroupOptions& options) {
  check_rank(rank, world_size);
  const auto backend = parse_backend_name(options.backend);
  auto state = std::make_shared<Group::State>();
  state->kind = Group::Kind::kDefault;
  state->backend = backend.name;
  state->timeout = options.timeout;
  state->size = world_size;
  state->group_rank = rank;
  state->global_ranks.resize(static_cast<std::size_t>(world_size));
  std::iota(state->global_ranks.begin(), state->global_ranks.end(), 0);

  World world;
  world.store_ = under("0/", store);
  connect_members(*state, under(backend.store_prefix, world.store_), options.agree_on_structure);
  world.agree_on_structure_ = options.agree_on_structure;
  world.default_group_ = Group(std::move(state));
  return world;
}

Group World::new_group(std::vector<int> ranks, std::optional<std::string> backend_name) {
  const Group& all = default_group();
  const auto backend = parse_backend_name(std::move(backend_name).value_or(all.backend()));
  std::sort(ranks.begin(), ranks.end());
  check_members(ranks, all.size());
  const auto store = under(std::to_string(++groups_made_) + "/", store_);

  auto state = std::make_shared<Group::State>();
  state->kind = Group::Kind::kSubgroup;
  state->backend = backend.name;
  state->timeout = all.timeout();
  state->size = static_cast<int>(ranks.size());
  state->global_ranks = std::move(ranks);
  const auto place =
      std::find(state->global_ranks.begin(), state->global_ranks.end(), all.group_rank());
  if (place != state->global_ranks.end()) {
    state->group_rank = static_cast<int>(place - state->global_ranks.begin());
    connect_members(*state, under(backend.store_prefix, store), agree_on_structure_);
  }
  return Group(std::move(state));
}

const Group& World::default_group() const {
  TORCH_CHECK_VALUE(default_group_.has_value(),
                    "Default process group has not been initialized, please make sure to call "
                    "init_process_group.");
  return *default_group_;
}

const Group& World::group_or_default(const std::optional<Group>& group) const {
  return group.has_value() ? *group : default_group();
}

}  // namespace tdref
