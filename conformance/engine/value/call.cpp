// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/call.h"

namespace tdconf {

bool is_call(std::string_view event) {
  return event != "pickle" && event != "unpickle" && event != "consolidate";
}

bool is_collective(std::string_view event) {
  return is_call(event) && event != "send" && event != "recv";
}

bool has_root(std::string_view collective) {
  return collective == "broadcast" || collective == "gather" || collective == "reduce" ||
         collective == "scatter";
}

const std::vector<std::string>& known_collectives() {
  static const std::vector<std::string> kNames{
      "all_gather", "all_reduce", "broadcast", "gather", "reduce", "scatter"};
  return kNames;
}

}  // namespace tdconf
