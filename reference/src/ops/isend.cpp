// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/isend.h>

#include <utility>

#include "ops/transfer.h"

namespace tdref {

IsendResult isend(const World& world, const TensorDictBase& td, const IsendOptions& options) {
  const Peer peer = resolve_peer(world, {"dst", options.dst, options.group_dst, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  Transfer transfer = plan_send(peer, td, {tags, options.consolidated});
  if (options.return_early) {
    return start(std::move(transfer));
  }
  const auto last = last_tag(transfer.messages, tags);
  complete(std::move(transfer));
  if (options.consolidated) {
    return std::monostate();
  }
  return last;
}

}  // namespace tdref
