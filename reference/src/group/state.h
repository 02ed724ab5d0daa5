// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include "group/agreement.h"
#include "group/connect.h"
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
  Connection connection;          // only a member has one
  std::shared_ptr<DroppedMessages> dropped = std::make_shared<DroppedMessages>();
  std::shared_ptr<Agreement> agreement;  // null if this rank does not compare, and when closed
};

}  // namespace tdref
