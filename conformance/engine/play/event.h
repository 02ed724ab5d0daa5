// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/value/tree.h"

namespace tdconf {

/// Something that an implementation did at the boundary of c10d, as an adapter reports it.
struct Event {
  /// `send`, `recv`, a collective call, `pickle`, `unpickle` or `consolidate`.
  std::string event;
  /// The name of the group in the case; empty for what is no call.
  std::string group;
  /// A global rank: the other end, or the root of a collective call that has one.
  std::optional<int> peer;
  std::optional<std::int64_t> tag;
  std::string dtype;
  Shape shape;
  std::int64_t bytes = 0;
  std::optional<std::string> sha256;
  /// The call was waited for with success.
  bool done = false;
  /// The step in progress, from 0; nothing for what belongs to no step.
  std::optional<int> step;
};

/// The events of one rank in the order in which they began.
using Transcript = std::vector<Event>;

}  // namespace tdconf
