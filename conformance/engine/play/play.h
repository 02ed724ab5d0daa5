// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/play/fleet.h"
#include "engine/play/record.h"

namespace tdconf {

struct PlayOptions {
  std::chrono::milliseconds deadline{10'000};
  /// How long `end_case` may take.
  std::chrono::milliseconds end_limit{10'000};
  /// A path for the store that does not exist yet.
  std::string store_path;
  /// Whether the record gets the answers as they came.
  bool keeps_messages = false;
};

/// Plays a case: lets all ranks join, releases each step when the steps it waits for have been
/// answered, and collects the answers and what each rank says it did. `adapters` holds one for
/// each rank.
///
/// Order   the steps of a rank one after another, ranks at the same time. A step that another must
///         block for comes after a series of pings (PingSeries) to that other rank. Once a rank
///         raises what it must not raise, crashes or breaks the protocol, the others have one more
///         second.
/// Blocks  for at most the deadline and three seconds, and the end limit when every step was
///         answered, whatever the adapters do.
/// Errors  Interrupted.
Record play(const Case& c,
            const std::vector<Adapter*>& adapters,
            Fleet& fleet,
            const PlayOptions& options);

}  // namespace tdconf
