// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/all_reduce.h>

#include "ops/reductions.h"

namespace tdref {

std::optional<Works> all_reduce(const World& world,
                                TensorDictBase& td,
                                const AllReduceOptions& options) {
  const ReductionArguments arguments{.group = world.group_or_default(options.group),
                                     .op = options.op,
                                     .bucket_bytes = options.bucket_bytes};
  if (options.async_op) {
    return start_reductions(td, arguments);
  }
  complete_reductions(td, arguments);
  return std::nullopt;
}

}  // namespace tdref
