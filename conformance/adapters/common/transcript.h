// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
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

  /// Adds, as add() does, the first message of a transfer whose messages are posted later or never:
  /// it waits until it is dropped. `messages` lists all of them; it is called by last_events().
  Event add_waiting(json first, std::function<std::vector<json>()> messages);

  /// Says that the event's call was waited for with success. `received` is the digest of what
  /// came, where that was not known before.
  void complete(const Event& event, const std::optional<std::string>& received);

  /// Takes an event out again: it did not happen.
  void drop(const Event& event);

  /// Returns the list as it is now.
  json events() const;

  /// Returns the list once nothing waits, or as it is after `patience`: what waits then has been
  /// begun, and stands there with all its messages.
  json last_events(std::chrono::milliseconds patience) const;

 private:
  Event append(json event);  // under the lock

  mutable std::mutex mutex_;
  mutable std::condition_variable nothing_waits_;
  std::optional<std::int64_t> step_;
  std::vector<Event> events_;
  std::map<Event, std::function<std::vector<json>()>> waiting_;
};

}  // namespace tdconf::adapter
