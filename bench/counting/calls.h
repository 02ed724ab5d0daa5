// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "counting/counting.h"

namespace tdconf::bench {

/// Counts the messages of gloo and the copies of aten, until stop_counting_calls().
void start_counting_calls();
void stop_counting_calls(TdconfCounts& counts);

}  // namespace tdconf::bench
