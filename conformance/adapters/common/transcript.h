// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/fields.h"

namespace tdconf::adapter {

/// What one rank did since `join`, as the protocol's list of EVENTs; any thread may call it.
class Transcript {
 public:
  /// An event that may still have to be completed.
  using Event = std::shared_ptr<json>;

  /// Forgets all events; one that is completed later stays forgotten.
  void clear();

  /// Says which step's events follow; none outside steps.
  void set_step(std::optional<std::int64_t> seq);

  /// Adds an event, with the `step` in progress.
  ///
  /// Order   as the calls of add(), so each event is added when it begins.
  Event add(json event);

  /// Says that the event's call was waited for with success. `received` is the digest of what
  /// came, where that was not known before.
  void complete(const Event& event, const std::optional<std::string>& received);

  /// Takes an event out again: it did not happen.
  void drop(const Event& event);

  /// Returns the list as it is now.
  json events() const;

 private:
  mutable std::mutex mutex_;
  std::optional<std::int64_t> step_;
  std::vector<Event> events_;
};

}  // namespace tdconf::adapter
