// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/send.h>

#include "ops/transfer.h"

namespace tdref {

void send(const World& world, const TensorDictBase& td, const SendOptions& options) {
  const Peer peer = resolve_peer(world, {"dst", options.dst, options.group_dst, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  complete(plan_send(peer, td, {tags, options.consolidated}));
}

}  // namespace tdref
