// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/from_remote_init.h>

#include "ops/object_wire.h"

namespace tdref {

AnyTensorDict from_remote_init(const World& world, const FromRemoteInitOptions& options) {
  TORCH_CHECK_TYPE(options.src.has_value(), "from_remote_init needs `src`, the rank of the sender");
  return receive_object(resolve_peer(world, {"src", options.src, std::nullopt, options.group}));
}

}  // namespace tdref
