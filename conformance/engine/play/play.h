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
  /// A path for the store that does not exist yet.
  std::string store_path;
};

/// Plays a case: lets all ranks join, releases each step when the steps it waits for have been
/// answered, and collects the answers. `adapters` holds one for each rank.
///
/// Order   the steps of a rank one after another, ranks at the same time. Once a rank raises what it
///         must not raise, crashes or breaks the protocol, the others have one more second.
/// Blocks  for at most the deadline and three seconds, whatever the adapters do.
/// Errors  Interrupted.
Record play(const Case& c,
            const std::vector<Adapter*>& adapters,
            Fleet& fleet,
            const PlayOptions& options);

}  // namespace tdconf
