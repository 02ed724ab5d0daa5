// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/plan.h>

#include <vector>

namespace tdref {

/// One end of a transfer that posts nothing before the other end is known to fit.
struct Announcement {
  Group group;
  bool sends = true;
  int group_rank = 0;                 // the other rank, in `group`
  std::vector<PlannedLeaf> messages;  // at least one
};

}  // namespace tdref
