// SPDX-License-Identifier: BSD-3-Clause
#include "common/counting.h"

#include <c10/util/Exception.h>

#include "common/timing.h"
#include "counting/counting.h"

namespace tdconf::bench {
namespace {

// A rank whose threads all sleep may be woken by another one, which then was not at the first
// meeting.
void settle(Control& control) {
  for (int look = 0; look < 2; ++look) {
    control.meet();
    TORCH_CHECK(tdconf_counting_await_quiet() == 0,
                "a thread of this process does not come to rest; nothing can be counted");
  }
}

}  // namespace

nlohmann::json count(const std::string& name, Operation& operation, Control& control) {
  settle(control);
  const auto received_before = tdconf_counting_received_bytes();
  tdconf_counting_start();
  control.meet();
  const auto other_copies = operation.run_counted();
  settle(control);
  TdconfCounts counts;
  tdconf_counting_stop(&counts);
  const auto received = tdconf_counting_received_bytes() - received_before;
  control.meet();  // what one rank does next wakes threads of the others
  return report(name,
                1,
                [] { return 0.0; },
                {{"messages", counts.messages},
                 {"wire_bytes", received},
                 {"copied_bytes", counts.copied_bytes + other_copies},
                 {"allocations", counts.allocations},
                 {"allocated_bytes", counts.allocated_bytes}});
}

}  // namespace tdconf::bench
