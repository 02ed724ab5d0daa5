// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/play/record.h"

namespace tdconf {

/// What is said of a rank that does not even answer `stacks`, as its second thread would.
inline constexpr const char* kSilence = "answers nothing, as a stopped process does";

/// A rank that had not answered when the deadline came.
struct WaitingRank {
  int rank = 0;
  /// From 0; nothing for a rank that never joined.
  std::optional<int> step;
  std::string op;
  /// Its calls that were not done.
  std::vector<Event> pending;
  /// What it waits for, and what became of that.
  std::string sentence;
};

/// Why a case did not come to its end.
struct Hang {
  /// That of the lowest waiting rank.
  std::string sentence;
  std::vector<WaitingRank> ranks;
};

/// Explains a hang from what the ranks report of their calls, e.g. `rank 1 waits for tag 7 from
/// rank 0, which finished after tag 6`. Of several pending calls, call_waited_in() chooses one.
Hang explain_hang(const Case& c, const Record& record);

}  // namespace tdconf
