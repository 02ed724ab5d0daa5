// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/recv.h>

#include <utility>

#include "ops/transfer.h"

namespace tdref {

std::optional<std::int64_t> recv(const World& world,
                                 TensorDictBase& td,
                                 const RecvOptions& options) {
  const Peer peer = resolve_peer(world, {"src", options.src, options.group_src, options.group});
  const TagOptions tags{options.init_tag, options.pseudo_rand};
  Transfer transfer = plan_receipt(peer, td, {tags, options.consolidated});
  const auto last = last_tag(transfer.messages, tags);
  complete(std::move(transfer));
  return options.consolidated ? std::nullopt : std::optional(last);
}

}  // namespace tdref
