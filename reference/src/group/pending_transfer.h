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

class Conversation;

/// One end of a transfer, as the rank that makes it describes it.
struct Proposal {
  Note note;
  /// Posts all messages. Called once, by any thread, when the other end fits; empty for a refusal.
  std::function<Works()> post;
};

/// Holds one end of a transfer from its note until its messages are posted, or it has failed.
class PendingTransfer {
 public:
  /// `what` names the transfer, for messages: "send to rank 1 with first tag 0".
  PendingTransfer(Proposal proposal, std::string what, std::shared_ptr<Conversation> conversation);

  const Note& note() const { return proposal_.note; }
  const std::string& what() const { return what_; }

  /// Returns the messages, in the order of posting.
  ///
  /// Blocks  until the other end's note has come; at most `timeout`.
  /// Errors  c10::ValueError: the ends do not fit, or the other one refused; nothing was posted.
  ///         c10d::TimeoutError: no note came; the conversation is then over.
  ///         c10::DistNetworkError: the conversation is over for another reason.
  Works posted(std::chrono::milliseconds timeout);

  /// Posts the messages if the ends fit, else fails. Called once.
  void settle(const End& here, const End& there);
  /// Does nothing when the transfer is settled.
  void fail(std::exception_ptr error);
  bool is_settled();
  /// Lets go of what posting needed: the tensors and the group.
  void forget_proposal();

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  Proposal proposal_;
  std::string what_;
  std::shared_ptr<Conversation> conversation_;
  bool is_settled_ = false;
  Works works_;
  std::exception_ptr error_;
};

/// Returns a Work for each of the `count` messages of a transfer that is still to be posted.
Works works_of(const std::shared_ptr<PendingTransfer>& transfer,
               std::size_t count,
               std::chrono::milliseconds timeout);

}  // namespace tdref
