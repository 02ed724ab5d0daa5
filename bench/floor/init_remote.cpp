// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty.h>

#include "floor/sizes.h"
#include "floor/transfer.h"

namespace tdconf::bench::floor {

std::unique_ptr<Operation> make_init_remote(Ranks& ranks, const Case& c) {
  const auto sizes = sizes_of(c);
  Leaves messages{at::empty({1}, at::kLong), new_bytes(sizes.object), new_bytes(sizes.storage)};
  return std::make_unique<Transfer>(ranks, std::move(messages), /*tag_step=*/0);
}

}  // namespace tdconf::bench::floor
