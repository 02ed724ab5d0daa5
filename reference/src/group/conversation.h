// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

#include "group/note.h"
#include "group/pending_transfer.h"

namespace tdref {

/// Exchanges notes with one other rank, and posts each transfer once both ends of it fit.
///
/// A rank's n-th send under a first tag belongs to the other rank's n-th receipt under it, whether
/// they succeed or not.
///
/// Wire    on a connection of its own, for each note: tag 0, int64[5] = [kind, side, first tag,
///         notes received so far, bytes of text]; if there is text, tag 1, uint8[bytes].
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  struct Names {
    std::string self;
    std::string peer;
  };

  /// What the conversations of one group share.
  struct Connection {
    c10::intrusive_ptr<c10d::Backend> backend;
    std::mutex posting;  // gloo counts what is posted without a lock
  };

  Conversation(std::shared_ptr<Connection> connection, int peer, Names names);

  /// Sends the note of a transfer, or of a refusal.
  ///
  /// Errors  c10::DistNetworkError: the conversation is over. c10::ValueError: the note is too long.
  std::shared_ptr<PendingTransfer> announce(Proposal proposal);

  /// Ends the conversation because nobody answered `transfer` for too long; does nothing if
  /// somebody just did.
  void give_up(PendingTransfer& transfer, std::chrono::milliseconds timeout);

  /// Ends the conversation without a word.
  void close();

 private:
  using Key = std::pair<Side, int>;
  struct SentNote {
    std::vector<c10::intrusive_ptr<c10d::Work>> messages;
  };

  void read();
  Note receive();
  void receive_into(const at::Tensor& tensor, int tag);
  void deliver(const Note& note);
  void settle(PendingTransfer& transfer, const Note& theirs);
  void send(const Note& note);
  c10::intrusive_ptr<c10d::Work> post(const at::Tensor& tensor, int tag);
  void forget_read_notes(std::int64_t read_by_peer);
  /// Fails all pending transfers, and any that comes later.
  void end(std::exception_ptr reason);
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
  std::deque<SentNote> sent_;  // kept until the peer has read them
  std::int64_t notes_received_ = 0;
  std::int64_t notes_read_by_peer_ = 0;
};

}  // namespace tdref
