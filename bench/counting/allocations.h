// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "counting/counting.h"

namespace tdconf::bench {

/// Puts a counting allocator around that of the CPU, until stop_counting_allocations().
void start_counting_allocations();
void stop_counting_allocations(TdconfCounts& counts);

}  // namespace tdconf::bench
