// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/broadcast.h>
#include <tdref/from_remote_init.h>

#include <utility>

#include "ops/collective.h"
#include "ops/object_wire.h"

namespace tdref {
namespace {

AnyTensorDict receive_broadcast(const World& world, const FromRemoteInitOptions& options) {
  const Group& group = world.group_or_default(options.group);
  // Who names itself tells the others, which would wait for what it never sends.
  plan_collective({.group = group, .operation = "broadcast"}, [&](Collective&) {
    resolve_peer(world, {"src", options.src, std::nullopt, options.group});
  });
  auto result = broadcast(
      world, TensorDict(), {.src = *options.src, .group = group, .device = options.device});
  return std::get<AnyTensorDict>(std::move(result));  // this rank is not src
}

}  // namespace

AnyTensorDict from_remote_init(const World& world, const FromRemoteInitOptions& options) {
  TORCH_CHECK_TYPE(options.src.has_value(), "from_remote_init needs `src`, the rank of the sender");
  if (options.use_broadcast) {
    return receive_broadcast(world, options);
  }
  return receive_object(resolve_peer(world, {"src", options.src, std::nullopt, options.group}),
                        options.device);
}

}  // namespace tdref
