// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/work.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "group/note.h"

namespace tdref {

/// One end of a transfer, as the rank that makes it describes it.
struct Proposal {
  Note note;
  /// Posts all messages. Called once, by any thread, when the other end fits; empty for a refusal,
  /// and where there are none.
  std::function<Works()> post;
  /// Shows an observer that this end waits; null if nobody looks.
  std::shared_ptr<void> announcement = nullptr;
};

/// Holds one end of a transfer from its note until its messages are posted, or it has failed: until
/// it is settled.
class PendingTransfer {
 public:
  /// `what` names the transfer, for messages: "send to rank 1 with first tag 0".
  PendingTransfer(Proposal proposal, std::string what);

  const Note& note() const { return proposal_.note; }
  const std::string& what() const { return what_; }

  /// Posts the messages if the ends fit, else fails with c10::ValueError. Called once. Returns what
  /// has done its duty, which may hold the last handle of a group: to be dropped without a lock.
  [[nodiscard]] std::function<Works()> settle(const End& here, const End& there);
  /// Does nothing when the transfer is settled. Returns what settle() does.
  [[nodiscard]] std::function<Works()> fail(std::exception_ptr error);

  bool is_settled();
  /// Waits until the transfer is settled, at most `timeout`, and returns whether it is.
  bool wait_until_settled(std::chrono::milliseconds timeout);

  /// Returns the messages of a settled transfer, in the order of posting.
  ///
  /// Errors  that with which it failed.
  Works posted();

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  Proposal proposal_;
  std::string what_;
  bool is_settled_ = false;
  Works works_;
  std::exception_ptr error_;
};

}  // namespace tdref
