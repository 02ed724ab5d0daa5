// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/init_remote.h>

#include "ops/object_wire.h"

namespace tdref {

void init_remote(const World& world, const TensorDictBase& td, const InitRemoteOptions& options) {
  TORCH_CHECK_VALUE(options.dst.has_value(), "`dst` must be provided.");
  const Peer peer = resolve_peer(world, {"dst", options.dst, std::nullopt, options.group});
  complete(plan_object_send(peer, td));
}

}  // namespace tdref
