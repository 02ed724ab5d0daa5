// SPDX-License-Identifier: BSD-3-Clause
#include "ops/peer.h"

#include <string>

namespace tdref {
namespace {

void check_arguments(const PeerArguments& arguments) {
  const std::string name = std::string("`") + arguments.name + "`";
  const std::string group_name = std::string("`group_") + arguments.name + "`";
  if (arguments.group_rank.has_value()) {
    TORCH_CHECK_VALUE(arguments.group.has_value(), group_name, " requires `group` to be passed.");
    TORCH_CHECK_VALUE(
        !arguments.global_rank.has_value(), name, " and ", group_name, " are mutually exclusive.");
  } else {
    TORCH_CHECK_VALUE(arguments.global_rank.has_value(),
                      "Exactly one of ",
                      name,
                      " and ",
                      group_name,
                      " must be provided.");
  }
}

}  // namespace

Peer resolve_peer(const World& world, const PeerArguments& arguments) {
  check_arguments(arguments);
  const Group& group = world.group_or_default(arguments.group);
  const int self = group.group_rank();
  const int peer = arguments.group_rank.has_value() ? *arguments.group_rank
                                                    : group.group_rank_of(*arguments.global_rank);
  TORCH_CHECK_VALUE(peer >= 0 && peer < group.size(),
                    "group_",
                    arguments.name,
                    "=",
                    peer,
                    " is not in the group; its ranks are 0 to ",
                    group.size() - 1);
  TORCH_CHECK_VALUE(peer != self, arguments.name, " is this rank itself (group rank ", self, ")");
  return {group, peer};
}

}  // namespace tdref
