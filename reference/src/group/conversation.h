// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

#include "group/connect.h"
#include "group/note.h"
#include "group/pending_transfer.h"

namespace tdref {

/// Exchanges notes with one other rank, and posts each transfer once both ends of it fit.
///
/// A rank's n-th send under a first tag belongs to the other rank's n-th receipt under it, whether
/// they succeed or not.
///
/// Wire    on a connection of its own, for each note: tag 0, int64[7] = [kind, side, first tag,
///         notes received so far, bytes of text, digest (two)]; if there is text, tag 1,
///         uint8[bytes]. Two structures whose digests differ are each followed by their details.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  struct Names {
    std::string self;
    std::string peer;
  };

  /// The conversations of one group share `connection`.
  Conversation(std::shared_ptr<Connection> connection, int peer, Names names);

  /// Sends the note of a transfer, or of a refusal.
  ///
  /// Errors  c10::DistNetworkError: the conversation is over. c10::ValueError: the note is too
  ///         long.
  std::shared_ptr<PendingTransfer> announce(Proposal proposal);

  /// Returns the messages of an announced transfer, in the order of posting.
  ///
  /// Blocks  until the other end's note has come; at most `timeout`.
  /// Errors  c10::ValueError: the ends do not fit, or the other one refused; nothing was posted.
  ///         c10d::TimeoutError: no note came; the conversation is then over.
  ///         c10::DistNetworkError: the conversation is over for another reason.
  const Works& posted(PendingTransfer& transfer, std::chrono::milliseconds timeout);

  /// Ends the conversation without a word.
  void close();

 private:
  using Key = std::pair<Side, int>;
  using Messages = std::vector<c10::intrusive_ptr<c10d::Work>>;
  using Post = std::function<Works()>;

  void read();
  Note receive();
  void receive_into(const at::Tensor& tensor, int tag);
  void deliver(const Note& note);
  void forget_read_notes(std::int64_t read_by_peer);
  /// Ends the conversation because nobody answered `transfer` for too long; does nothing if
  /// somebody just did.
  void give_up(PendingTransfer& transfer, std::chrono::milliseconds timeout);
  /// Fails all pending transfers, and any that comes later.
  void end(std::exception_ptr reason);

  // With mutex_ held: notes leave, and transfers are posted, in the order in which they meet.
  /// Settles a transfer that has met the note of its other end, unless their words are needed too.
  [[nodiscard]] Post meet(const std::shared_ptr<PendingTransfer>& transfer, const Note& theirs);
  [[nodiscard]] Post explain_difference(const Note& details);
  void send(const Note& note);
  c10::intrusive_ptr<c10d::Work> send_message(const at::Tensor& tensor, int tag);
  std::string unanswered_notes() const;

  const int peer_;
  const Names names_;

  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;  // null when closed
  c10::intrusive_ptr<c10d::Work> reading_;
  std::thread reader_;  // runs from the first note on
  std::exception_ptr ended_;
  std::map<Key, std::deque<std::shared_ptr<PendingTransfer>>> pending_;
  std::map<Key, std::deque<Note>> unanswered_;
  std::map<Key, std::deque<std::shared_ptr<PendingTransfer>>> differing_;  // await details
  std::deque<Messages> sent_;  // by note; kept until the peer has read it
  std::int64_t notes_received_ = 0;
  std::int64_t notes_read_by_peer_ = 0;
};

/// Returns a Work for each of the `count` messages of an announced transfer.
Works works_of(const std::shared_ptr<Conversation>& conversation,
               const std::shared_ptr<PendingTransfer>& transfer,
               std::size_t count,
               std::chrono::milliseconds timeout);

}  // namespace tdref
