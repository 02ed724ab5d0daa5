// SPDX-License-Identifier: BSD-3-Clause
#include "common/groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

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
  store_ = c10::make_intrusive<c10d::FileStore>(join.store_path, static_cast<int>(join.world_size));
  store_->setTimeout(join.timeout);
  rank_ = join.rank;
  timeout_ = join.timeout;
  for (const GroupSpec& spec : join.groups) open(spec, join);
}

void Groups::open(const GroupSpec& spec, const Join& join) {
  std::optional<tdref::Group> group;
  if (spec.kind == "default") {
    check_has_every_rank(spec, join);
    world_ = tdref::World::init_process_group(store_,
                                              static_cast<int>(join.rank),
                                              static_cast<int>(join.world_size),
                                              {.backend = spec.backend,
                                               .timeout = join.timeout,
                                               .agree_on_structure = agree_on_structure_});
    group = world_.default_group();
  } else if (spec.kind == "subgroup") {
    group = world_.new_group({spec.ranks.begin(), spec.ranks.end()}, spec.backend);
  } else {
    group = open_standalone(spec, join, agree_on_structure_, store_);
  }
  if (!group) return;
  SpyOptions options{.group = spec.name, .global_ranks = spec.ranks};
  // torch numbers the members of a registered group by their global ranks, whatever the list says.
  if (spec.kind != "standalone") std::ranges::sort(options.global_ranks);
  group->wrap_backend([&](auto backend) {
    return c10::make_intrusive<SpyBackend>(std::move(backend), options, transcript_);
  });
  in_order_.push_back({*group, std::move(options)});
}

void Groups::reset() {
  for (auto group = in_order_.rbegin(); group != in_order_.rend(); ++group) {
    group->group.close();
  }
  in_order_.clear();
  world_ = tdref::World();
  store_.reset();
}

const tdref::Group& Groups::named(const std::optional<std::string>& name) const {
  const std::string wanted = name.value_or(kDefaultName);
  const auto found =
      std::ranges::find(in_order_, wanted, [](const Named& named) { return named.options.group; });
  if (found == in_order_.end()) throw BadRequest("this rank has no group called " + wanted);
  return found->group;
}

std::shared_ptr<void> Groups::note(const tdref::Announcement& announcement) const {
  const auto named = std::ranges::find(in_order_, announcement.group, &Named::group);
  if (named == in_order_.end()) return nullptr;
  const auto describe = [options = named->options,
                         sends = announcement.sends,
                         peer = announcement.group_rank,
                         collective = announcement.collective](const tdref::PlannedLeaf& message) {
    C10dCall call{.event = sends ? "send" : "recv",
                  .tensor = message.tensor,
                  .peer = peer,
                  .tag = message.tag,
                  .receives = !sends};
    if (!collective.empty()) {
      call.event = collective;
      call.tag.reset();
      if (peer < 0) call.peer.reset();
      // What an event of these has a digest of is what comes of the call.
      if (collective == "all_reduce" || collective == "scatter") call.receives = true;
    }
    return event_of(call, options);
  };
  // Two transfers that wait for each other's first tag would meet in a later one by chance.
  const auto event = transcript_->add_waiting(
      describe(announcement.messages.front()), [describe, messages = announcement.messages] {
        std::vector<json> events;
        std::ranges::transform(messages, std::back_inserter(events), describe);
        return events;
      });
  return {nullptr, [transcript = transcript_, event](std::nullptr_t) { transcript->drop(event); }};
}

}  // namespace tdconf::adapter
