// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/send.h>

#include "ops/p2p.h"

namespace tdref {

void send(const World& world, const TensorDictBase& td, const SendOptions& options) {
  const Peer peer = resolve_peer(world, {"dst", options.dst, options.group_dst, options.group});
  Works works;
  if (options.consolidated) {
    works = post_consolidated_send(peer, td);
  } else {
    const auto plan = plan_transfer(td, {options.init_tag, options.pseudo_rand});
    check_sendable(plan);
    works = post_sends(peer, plan);
  }
  wait_all(works, peer.group);
}

}  // namespace tdref
