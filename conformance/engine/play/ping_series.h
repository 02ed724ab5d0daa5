// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "engine/play/peer.h"

namespace tdconf {

/// Shows by pings, asked one after another, that a step is in progress and stays unanswered.
///
/// One answer says that the step has begun. An implementation that does not block may still be
/// about to return, so that several must follow; each takes a whole trip to the adapter and back.
class PingSeries {
 public:
  /// Asks for the first time whether the step with the number `step` is in progress.
  void begin(Peer& peer, std::int64_t step);

  /// Counts an answer, if it is one to this series, and asks again until there are enough.
  void take(Peer& peer, std::int64_t seq, const Pong& pong);

  /// True once enough answers in a row have named the step.
  bool is_complete() const { return in_a_row_ == kEnough; }

 private:
  static constexpr int kEnough = 10;

  std::int64_t step_ = 0;
  std::optional<std::int64_t> ping_;
  int in_a_row_ = 0;
};

}  // namespace tdconf
