// SPDX-License-Identifier: BSD-3-Clause
#include "floor/sizes.h"
#include "floor/transfer.h"

namespace tdconf::bench::floor {

std::unique_ptr<Operation> make_send(Ranks& ranks, const Case& c) {
  return std::make_unique<Transfer>(ranks, new_leaves(c), /*tag_step=*/1);
}

std::unique_ptr<Operation> make_send_consolidated(Ranks& ranks, const Case& c) {
  return std::make_unique<Transfer>(ranks, Leaves{new_bytes(sizes_of(c).storage)}, /*tag_step=*/0);
}

}  // namespace tdconf::bench::floor
