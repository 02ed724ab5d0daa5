// SPDX-License-Identifier: BSD-3-Clause
#include "counting/counting.h"

#include "counting/allocations.h"
#include "counting/calls.h"

void tdconf_counting_start() {
  tdconf::bench::start_counting_calls();
  tdconf::bench::start_counting_allocations();
}

void tdconf_counting_stop(TdconfCounts* counts) {
  tdconf::bench::stop_counting_allocations(*counts);
  tdconf::bench::stop_counting_calls(*counts);
}
