// SPDX-License-Identifier: BSD-3-Clause
#include "group/agreement.h"

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "group/connect.h"

namespace tdref {
namespace {

std::string offer_key(int group_rank) {
  return "tdref/agrees/" + std::to_string(group_rank);
}

std::vector<int> ranks_that_compare(const Agreement::Place& place) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(place.names.size()); ++rank) {
    if (place.store->check({offer_key(rank)})) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace

void Agreement::offer(const Place& place) {
  place.store->set(offer_key(place.group_rank), std::string("1"));
}

Agreement::Agreement(const Place& place, std::chrono::milliseconds timeout)
    : conversations_(place.names.size()) {
  const auto ranks = ranks_that_compare(place);
  if (ranks.size() < 2) {
    return;
  }
  const auto self = std::find(ranks.begin(), ranks.end(), place.group_rank) - ranks.begin();
  const auto connection = std::make_shared<Conversation::Connection>();
  connection->backend =
      connect(c10::make_intrusive<c10d::PrefixStore>("tdref/agreement/", place.store),
              static_cast<int>(self),
              static_cast<int>(ranks.size()),
              timeout);
  const auto& self_name = place.names[static_cast<std::size_t>(place.group_rank)];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto group_rank = static_cast<std::size_t>(ranks[i]);
    if (ranks[i] != place.group_rank) {
      conversations_[group_rank] = std::make_shared<Conversation>(
          connection,
          static_cast<int>(i),
          Conversation::Names{.self = self_name, .peer = place.names[group_rank]});
    }
  }
}

bool Agreement::is_with(int group_rank) const {
  return conversations_.at(static_cast<std::size_t>(group_rank)) != nullptr;
}

std::shared_ptr<PendingTransfer> Agreement::announce(int group_rank, Proposal proposal) const {
  return conversations_.at(static_cast<std::size_t>(group_rank))->announce(std::move(proposal));
}

void Agreement::close() {
  for (const auto& conversation : conversations_) {
    if (conversation) {
      conversation->close();
    }
  }
}

}  // namespace tdref
