// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/isend.h>

#include "ops/transfer.h"

namespace tdref {

IsendResult isend(const World& world, const TensorDictBase& td, const IsendOptions& options) {
  const Peer peer = resolve_peer(world, {"dst", options.dst, options.group_dst, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  const Transfer transfer = plan_send(peer, td, {tags, options.consolidated});
  if (options.return_early) {
    return start(transfer);
  }
  complete(transfer);
  if (options.consolidated) {
    return std::monostate();
  }
  return last_tag(transfer.messages, tags);
}

}  // namespace tdref
