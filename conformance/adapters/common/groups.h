// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/announcement.h>
#include <tdref/group.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>
#include <vector>

#include "common/messages.h"
#include "common/spy.h"
#include "common/transcript.h"

namespace tdconf::adapter {

/// The process groups of one case, under the names that the case gives them.
class Groups {
 public:
  /// Each call of a group is noted in `transcript`; `agree_on_structure` is the option of
  /// tdref::GroupOptions.
  explicit Groups(std::shared_ptr<Transcript> transcript, bool agree_on_structure = true)
      : transcript_(std::move(transcript)), agree_on_structure_(agree_on_structure) {}

  /// Builds the groups in the order of the list.
  ///
  /// Wire    as the protocol's `join` says; a standalone group is on the store prefix
  ///         `standalone/NAME/`.
  /// Blocks  until the other ranks have joined, at most `join.timeout` for each group.
  /// Errors  BadRequest: groups of an earlier case are open. What tdref raises, unchanged.
  void join(const Join& join);

  /// Closes all groups, the last built first.
  void reset();

  const tdref::World& world() const { return world_; }

  /// The store that the ranks of the case share, which outlives its groups; null between two cases.
  const c10::intrusive_ptr<c10d::Store>& store() const { return store_; }
  std::int64_t rank() const { return rank_; }
  std::chrono::milliseconds timeout() const { return timeout_; }

  /// Returns the group called `name`; the default group when there is no name.
  ///
  /// Errors  BadRequest: this rank has no such group.
  const tdref::Group& named(const std::optional<std::string>& name) const;

  /// Notes in the transcript that a transfer waits for its other end, as its first message not
  /// done, until what is returned is let go; at the end of a case as all its messages.
  std::shared_ptr<void> note(const tdref::Announcement& announcement) const;

 private:
  struct Named {
    tdref::Group group;
    SpyOptions options;
  };

  void open(const GroupSpec& spec, const Join& join);

  const std::shared_ptr<Transcript> transcript_;
  const bool agree_on_structure_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::int64_t rank_ = 0;
  std::chrono::milliseconds timeout_{0};
  tdref::World world_;
  std::vector<Named> in_order_;
};

}  // namespace tdconf::adapter
