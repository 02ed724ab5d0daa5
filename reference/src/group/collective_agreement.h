// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "group/connect.h"
#include "group/pending_transfer.h"

namespace tdref {

/// What a rank tells all others before a collective.
struct CollectiveNote {
  enum class Kind : std::int64_t {
    kStructure = 1,  // `text` is the same on all ranks that mean the same: one line for the
                     // operation and its arguments, and one for each leaf
    kRefusal = 2,    // this rank cannot do it; `text` is the reason
  };

  Kind kind = Kind::kStructure;
  std::string text;
};

/// A rank's part in a collective, as it describes it.
struct CollectiveProposal {
  CollectiveNote note;
  /// Names the collective, for messages: "broadcast from rank 1".
  std::string what;
  /// What is posted when all ranks mean the same, in the order of the calls; may be empty, for who
  /// posts it itself once the call is settled.
  Posting posting;
};

/// Lets all ranks of a group find out that one of them means another collective than the others, or
/// cannot take part, before anything of it is sent: then all raise alike, and the next collective
/// begins anew.
///
/// A rank's n-th collective is compared with everybody's n-th, whether they succeed or not.
///
/// Wire    on the connection of the conversations, from each rank to each other: tag 2, int64[4] =
///         [kind, bytes of text, digest of text (two)]; unless all are structures with one digest,
///         tag 3, uint8[bytes], the text.
class CollectiveAgreement : public std::enable_shared_from_this<CollectiveAgreement> {
 public:
  /// `names` are those of all ranks of the connection, for messages, and `self` is the place of this
  /// one.
  CollectiveAgreement(std::shared_ptr<Connection> connection,
                      std::vector<std::string> names,
                      int self);

  /// Tells the other ranks of a collective, or of a refusal, once those before it are settled.
  ///
  /// Errors  c10::DistNetworkError: the collectives of the group are over.
  std::shared_ptr<Pending> announce(CollectiveProposal proposal);

  /// Returns what an announced collective posted.
  ///
  /// Blocks  until all ranks have announced theirs; at most `timeout`.
  /// Errors  c10::ValueError: the ranks mean different things, or one refused; nothing was posted.
  ///         c10d::TimeoutError: a rank announced nothing; the collectives of the group are then
  ///         over. c10::DistNetworkError: they are over for another reason.
  const Works& posted(Pending& collective, std::chrono::milliseconds timeout);

  /// Ends the collectives of this rank without a word.
  void close();

 private:
  struct Announced {
    CollectiveNote note;
    std::shared_ptr<Pending> pending;
  };

  void run();
  void compare_one_after_the_other();
  /// Waits for something to compare; nothing comes when the collectives are over.
  std::optional<Announced> next();
  void settle(Pending& pending, const std::optional<std::string>& problem);
  void give_up(Pending& pending, std::chrono::milliseconds timeout);
  /// Fails all pending collectives, and any that comes later.
  void end(std::exception_ptr reason);

  /// Says why not all ranks can go on, in the same words on each of them; nothing if they can.
  std::optional<std::string> problem_with(const CollectiveNote& own);
  std::optional<std::string> problem_among(const std::vector<CollectiveNote>& notes) const;
  /// Sends `own` to all other ranks, and fills `inboxes`, by rank, with what they send.
  void exchange(const at::Tensor& own, const std::vector<at::Tensor>& inboxes, int tag);
  void post_exchange(const at::Tensor& own, const std::vector<at::Tensor>& inboxes, int tag);
  void wait_for_rank(std::size_t rank);

  const std::vector<std::string> names_;
  const std::size_t self_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Connection> connection_;  // null when closed
  std::thread comparer_;                    // runs from the first collective on
  std::exception_ptr ended_;
  std::deque<Announced> announced_;  // the first is being compared
  /// Of the exchange under way, by rank; null of this rank itself.
  std::vector<c10::intrusive_ptr<c10d::Work>> receipts_;
  std::vector<c10::intrusive_ptr<c10d::Work>> sends_;
  std::optional<std::size_t> awaited_;  // the rank whose message is being waited for
};

}  // namespace tdref
