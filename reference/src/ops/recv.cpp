// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/recv.h>

#include "ops/p2p.h"

namespace tdref {

std::optional<std::int64_t> recv(const World& world,
                                 TensorDictBase& td,
                                 const RecvOptions& options) {
  const Peer peer = resolve_peer(world, {"src", options.src, options.group_src, options.group});
  if (options.consolidated) {
    Works works = post_consolidated_receipt(peer, td);
    wait_all(works, peer.group);
    return std::nullopt;
  }
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  const auto plan = plan_transfer(td, tags);
  check_in_memory(td);
  check_receivable(plan);
  Works works = post_receipts(peer, plan);
  wait_all(works, peer.group);
  return last_tag(plan, tags);
}

}  // namespace tdref
