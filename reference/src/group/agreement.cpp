// SPDX-License-Identifier: BSD-3-Clause
#include "group/agreement.h"

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "group/connect.h"

namespace tdref {
namespace {

std::string offer_key(int group_rank) {
  return "tdref/agrees/" + std::to_string(group_rank);
}

std::vector<int> ranks_that_compare(const Agreement::Members& members) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(members.names.size()); ++rank) {
    if (members.store->check({offer_key(rank)})) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace

void Agreement::offer(const Members& members) {
  members.store->set(offer_key(members.group_rank), std::string("1"));
}

Agreement::Agreement(const Members& members, std::chrono::milliseconds timeout)
    : conversations_(members.names.size()) {
  const auto ranks = ranks_that_compare(members);
  if (ranks.size() < 2) {
    return;
  }
  const auto self = std::find(ranks.begin(), ranks.end(), members.group_rank) - ranks.begin();
  const auto connection = std::make_shared<Connection>();
  connection->backend =
      connect(c10::make_intrusive<c10d::PrefixStore>("tdref/agreement/", members.store),
              static_cast<int>(self),
              static_cast<int>(ranks.size()),
              timeout);
  const auto& self_name = members.names[static_cast<std::size_t>(members.group_rank)];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto group_rank = static_cast<std::size_t>(ranks[i]);
    if (ranks[i] != members.group_rank) {
      conversations_[group_rank] = std::make_shared<Conversation>(
          connection,
          static_cast<int>(i),
          Conversation::Names{.self = self_name, .peer = members.names[group_rank]});
    }
  }
  if (ranks.size() == members.names.size()) {
    collectives_ =
        std::make_shared<CollectiveAgreement>(connection, members.names, members.group_rank);
  }
}

std::shared_ptr<Conversation> Agreement::with(int group_rank) const {
  return conversations_.at(static_cast<std::size_t>(group_rank));
}

void Agreement::close() {
  for (const auto& conversation : conversations_) {
    if (conversation) {
      conversation->close();
    }
  }
  if (collectives_) {
    collectives_->close();
  }
}

}  // namespace tdref
