// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/reduce.h>

#include "ops/reductions.h"

namespace tdref {

std::optional<Works> reduce(const World& world, TensorDictBase& td, const ReduceOptions& options) {
  const ReductionArguments arguments{.group = world.group_or_default(options.group),
                                     .op = options.op,
                                     .dst = options.dst,
                                     .bucket_bytes = options.bucket_bytes};
  if (options.async_op && options.return_premature) {
    return start_reductions(td, arguments);
  }
  complete_reductions(td, arguments);
  return std::nullopt;
}

}  // namespace tdref
