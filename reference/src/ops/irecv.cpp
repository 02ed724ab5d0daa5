// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/irecv.h>

#include "ops/p2p.h"

namespace tdref {

std::optional<Works> irecv(const World& world, TensorDictBase& td, const IrecvOptions& options) {
  const Peer peer = resolve_peer(world, {"src", options.src, options.group_src, options.group});
  Works works;
  if (options.consolidated) {
    works = post_consolidated_receipt(peer, td);
  } else {
    const auto plan = plan_transfer(td, {options.init_tag, options.pseudo_rand});
    check_in_memory(td);
    check_receivable(plan);
    works = post_receipts(peer, plan);
  }
  if (options.return_premature) {
    return works;
  }
  wait_all(works, peer.group);
  return std::nullopt;
}

}  // namespace tdref
