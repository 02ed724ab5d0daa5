// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/isend.h>

#include "ops/p2p.h"

namespace tdref {

IsendResult isend(const World& world, const TensorDictBase& td, const IsendOptions& options) {
  const Peer peer = resolve_peer(world, {"dst", options.dst, options.group_dst, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  Works works;
  IsendResult when_done;
  if (options.consolidated) {
    works = post_consolidated_send(peer, td);
  } else {
    const auto plan = plan_transfer(td, tags);
    check_sendable(plan);
    works = post_sends(peer, plan);
    when_done = last_tag(plan, tags);
  }
  if (options.return_early) {
    return works;
  }
  wait_all(works, peer.group);
  return when_done;
}

}  // namespace tdref
