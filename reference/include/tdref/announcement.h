// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/plan.h>

#include <string>
#include <vector>

namespace tdref {

/// One end of a transfer, or one rank's part in a collective, that posts nothing before all that
/// take part are known to fit.
struct Announcement {
  Group group;
  bool sends = true;  // false: the contents of the messages come with them
  /// The other rank of a transfer, or the one that gives or gets in a collective, in `group`; -1 for
  /// a collective in which all do the same.
  int group_rank = 0;
  std::vector<PlannedLeaf> messages;  // at least one; those of a collective have no tags
  /// As torch.distributed names the first call of a collective ("broadcast"); empty for a transfer.
  std::string collective = {};
};

}  // namespace tdref
