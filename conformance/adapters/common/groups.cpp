// SPDX-License-Identifier: BSD-3-Clause
#include "common/groups.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "common/spy.h"

namespace tdconf::adapter {
namespace {

constexpr const char* kDefaultName = "default";

void check_has_every_rank(const GroupSpec& spec, const Join& join) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(join.world_size));
  std::iota(all.begin(), all.end(), 0);
  if (spec.ranks != all) throw BadRequest("join: the default group has every rank of the world");
}

std::optional<tdref::Group> open_standalone(const GroupSpec& spec,
                                            const Join& join,
                                            bool agree_on_structure,
                                            const c10::intrusive_ptr<c10d::Store>& store) {
  const auto self = std::find(spec.ranks.begin(), spec.ranks.end(), join.rank);
  if (self == spec.ranks.end()) return std::nullopt;
  const auto prefixed =
      c10::make_intrusive<c10d::PrefixStore>("standalone/" + spec.name + '/', store);
  return tdref::open_standalone(
      prefixed,
      static_cast<int>(self - spec.ranks.begin()),
      static_cast<int>(spec.ranks.size()),
      {.backend = spec.backend, .timeout = join.timeout, .agree_on_structure = agree_on_structure});
}

}  // namespace

void Groups::join(const Join& join) {
  if (!in_order_.empty()) throw BadRequest("join: the groups of an earlier case are still open");
  const c10::intrusive_ptr<c10d::Store> store =
      c10::make_intrusive<c10d::FileStore>(join.store_path, static_cast<int>(join.world_size));
  store->setTimeout(join.timeout);
  for (const GroupSpec& spec : join.groups) open(spec, join, store);
}

void Groups::open(const GroupSpec& spec,
                  const Join& join,
                  const c10::intrusive_ptr<c10d::Store>& store) {
  std::optional<tdref::Group> group;
  if (spec.kind == "default") {
    check_has_every_rank(spec, join);
    world_ = tdref::World::init_process_group(store,
                                              static_cast<int>(join.rank),
                                              static_cast<int>(join.world_size),
                                              {.backend = spec.backend,
                                               .timeout = join.timeout,
                                               .agree_on_structure = agree_on_structure_});
    group = world_.default_group();
  } else if (spec.kind == "subgroup") {
    group = world_.new_group({spec.ranks.begin(), spec.ranks.end()}, spec.backend);
  } else {
    group = open_standalone(spec, join, agree_on_structure_, store);
  }
  if (!group) return;
  spy_on(*group, spec);
  by_name_.emplace(spec.name, *group);
  in_order_.push_back(*group);
}

void Groups::spy_on(const tdref::Group& group, const GroupSpec& spec) const {
  SpyOptions options{.group = spec.name, .global_ranks = spec.ranks};
  // torch numbers the members of a registered group by their global ranks, whatever the list says.
  if (spec.kind != "standalone") std::ranges::sort(options.global_ranks);
  group.wrap_backend([&](auto backend) {
    return c10::make_intrusive<SpyBackend>(std::move(backend), options, transcript_);
  });
}

void Groups::reset() {
  for (auto group = in_order_.rbegin(); group != in_order_.rend(); ++group) group->close();
  in_order_.clear();
  by_name_.clear();
  world_ = tdref::World();
}

const tdref::Group& Groups::named(const std::optional<std::string>& name) const {
  const auto found = by_name_.find(name.value_or(kDefaultName));
  if (found == by_name_.end()) {
    throw BadRequest("this rank has no group called " + name.value_or(kDefaultName));
  }
  return found->second;
}

}  // namespace tdconf::adapter
