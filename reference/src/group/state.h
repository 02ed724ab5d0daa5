// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "group/agreement.h"
#include "group/work.h"

namespace tdref {

/// What the handles of one group share.
class Group::State {
 public:
  Kind kind = Kind::kDefault;
  std::string backend;
  std::chrono::milliseconds timeout{};
  int size = 0;
  int group_rank = -1;            // -1: not a member
  std::vector<int> global_ranks;  // by group rank; empty for a standalone group
  c10::intrusive_ptr<c10d::Backend>
      connection;      // null for a rank that is not a member, and when closed
  std::mutex posting;  // transfers are posted by several threads; gloo counts them without a lock
  std::shared_ptr<DroppedMessages> dropped = std::make_shared<DroppedMessages>();
  std::shared_ptr<Agreement> agreement;  // null if this rank does not compare, and when closed
};

}  // namespace tdref
