// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/call.h"

namespace tdconf {

bool is_call(std::string_view event) {
  return event != "pickle" && event != "unpickle" && event != "consolidate";
}

bool is_collective(std::string_view event) {
  return is_call(event) && event != "send" && event != "recv";
}

}  // namespace tdconf
