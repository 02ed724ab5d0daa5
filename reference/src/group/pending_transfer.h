// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/work.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "group/note.h"

namespace tdref {

/// What happens once all ranks that take part are known to fit.
struct Posting {
  /// Posts all messages. Called once, by any thread; empty for a refusal, and where there are none.
  std::function<Works()> post;
  /// Shows an observer that this rank waits; null if nobody looks.
  std::shared_ptr<void> announcement = nullptr;
};

/// Holds a posting until its messages are posted, or it has failed: until it is settled.
class Pending {
 public:
  /// `what` names what is to be posted, for messages: "send to rank 1 with first tag 0".
  Pending(Posting posting, std::string what);

  const std::string& what() const { return what_; }

  /// Posts the messages if there is no problem, else fails with c10::ValueError. Called once.
  /// Returns what has done its duty, which may hold the last handle of a group: to be dropped
  /// without a lock.
  [[nodiscard]] std::function<Works()> settle(const std::optional<std::string>& problem);
  /// Does nothing when it is settled. Returns what settle() does.
  [[nodiscard]] std::function<Works()> fail(std::exception_ptr error);

  bool is_settled();
  /// Waits until it is settled, at most `timeout`, and returns whether it is.
  bool wait_until_settled(std::chrono::milliseconds timeout);

  /// Returns the messages once it is settled, in the order of posting. They change no more.
  ///
  /// Errors  that with which it failed.
  const Works& posted();

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  Posting posting_;
  std::string what_;
  bool is_settled_ = false;
  Works works_;
  std::exception_ptr error_;
};

/// One end of a transfer, as the rank that makes it describes it.
struct Proposal {
  Note note;
  Posting posting;
  /// What the note has the digest of; null of a refusal.
  DescriptionPtr description = nullptr;
};

/// Proposes what fits wherever the other end has the same description.
///
/// Errors  c10::ValueError: the description is too long to be told.
Proposal propose(Side side, int first_tag, DescriptionPtr description, Posting posting);

/// One end of a transfer, from its note on.
class PendingTransfer : public Pending {
 public:
  PendingTransfer(Proposal proposal, std::string what)
      : Pending(std::move(proposal.posting), std::move(what)),
        note_(std::move(proposal.note)),
        description_(std::move(proposal.description)) {}

  const Note& note() const { return note_; }
  const Description& description() const { return *description_; }

 private:
  Note note_;
  DescriptionPtr description_;
};

}  // namespace tdref
