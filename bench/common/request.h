// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/case.h"

namespace tdconf::bench {

/// One line of standard input.
struct Request {
  Case subject;
  /// Whether one operation is counted; else operations are timed.
  bool count = false;
  std::int64_t iterations = 1;
  /// How many operations one iteration does.
  std::int64_t batch = 1;
};

/// Errors  c10::ValueError: not a JSON object; a key that is missing, unknown, or of another type; a
///         number that is out of range; bytes that are not whole elements.
Request read_request(const std::string& line);

}  // namespace tdconf::bench
