// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/irecv.h>

#include <utility>

#include "ops/transfer.h"

namespace tdref {

std::optional<Works> irecv(const World& world, TensorDictBase& td, const IrecvOptions& options) {
  const Peer peer = resolve_peer(world, {"src", options.src, options.group_src, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  Transfer transfer = plan_receipt(peer, td, {tags, options.consolidated});
  if (options.return_premature) {
    return start(std::move(transfer));
  }
  complete(std::move(transfer));
  return std::nullopt;
}

}  // namespace tdref
