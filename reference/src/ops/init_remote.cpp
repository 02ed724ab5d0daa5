// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/broadcast.h>
#include <tdref/init_remote.h>

#include "ops/object_wire.h"

namespace tdref {

void init_remote(const World& world, const TensorDictBase& td, const InitRemoteOptions& options) {
  if (options.use_broadcast) {
    const Group& group = world.group_or_default(options.group);
    const auto self = static_cast<std::size_t>(group.group_rank());
    const int src = group.global_ranks()[self];
    broadcast(world, td, {.src = src, .group = group, .device = options.device});
    return;
  }
  TORCH_CHECK_VALUE(options.dst.has_value(), "`dst` must be provided.");
  const Peer peer = resolve_peer(world, {"dst", options.dst, std::nullopt, options.group});
  complete(plan_object_send(peer, td, options.device));
}

}  // namespace tdref
