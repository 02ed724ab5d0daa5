// SPDX-License-Identifier: BSD-3-Clause
#include "common/case.h"

#include <c10/util/StringUtil.h>

namespace tdconf::bench {

std::string name_of(const Case& c, int world) {
  return c10::str(c.operation,
                  "/leaves:",
                  c.leaves,
                  "/bytes:",
                  c.bytes,
                  "/depth:",
                  c.depth,
                  "/dtype:",
                  c.dtype_name,
                  "/world:",
                  world);
}

}  // namespace tdconf::bench
