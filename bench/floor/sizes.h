// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "common/case.h"

namespace tdconf::bench::floor {

/// The bytes of what the reference sends beside, or instead of, single leaves.
struct Sizes {
  /// The consolidated storage.
  std::int64_t storage = 0;
  /// The pickled metadata behind it, as gather_and_stack sends it.
  std::int64_t metadata = 0;
  /// The same with '_total_bytes', as init_remote sends it.
  std::int64_t object = 0;
  /// The pickled tensordict.
  std::int64_t pickle = 0;
};

Sizes sizes_of(const Case& c);

at::Tensor new_bytes(std::int64_t bytes);

}  // namespace tdconf::bench::floor
