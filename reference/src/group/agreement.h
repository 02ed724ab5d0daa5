// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "group/collective_agreement.h"
#include "group/conversation.h"

namespace tdref {

/// Lets ranks find out that they mean different things before anything travels, where they are ranks
/// of this library that asked for it: the two ends of a transfer if both are, all ranks of a
/// collective if all are. Nobody else notices anything.
///
/// Wire    each such rank sets the key "tdref/agrees/RANK" in the group's store before it connects
///         the group, which nobody finishes before all have begun; those that find each other there
///         then connect among themselves under "tdref/agreement/".
/// Source  torch 2.15 c10d::ProcessGroupWrapper compares collective calls in the same way
class Agreement {
 public:
  struct Members {
    c10::intrusive_ptr<c10d::Store> store;
    int group_rank = 0;
    /// The names of the ranks, for messages, by group rank.
    std::vector<std::string> names;
  };

  /// Says in the store that this rank compares. To be called before the group is connected.
  static void offer(const Members& members);

  /// Connects the ranks that compare. To be called when the group is connected.
  ///
  /// Blocks  until all ranks that compare have called it, at most `timeout`.
  /// Errors  as open_standalone().
  Agreement(const Members& members, std::chrono::milliseconds timeout);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement() { close(); }

  /// Returns the conversation with a rank; null if one of the two does not compare.
  std::shared_ptr<Conversation> with(int group_rank) const;

  /// Returns what compares the collectives of all ranks; null if one of them does not compare, and
  /// where there is only one.
  std::shared_ptr<CollectiveAgreement> collectives() const { return collectives_; }

  void close();

 private:
  std::vector<std::shared_ptr<Conversation>> conversations_;  // by group rank
  std::shared_ptr<CollectiveAgreement> collectives_;
};

}  // namespace tdref
