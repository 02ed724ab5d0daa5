// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "engine/value/compare.h"

namespace tdconf {

/// A difference at the boundary of c10d, laid to a rank and to its step when there is one.
struct WireDifference {
  int rank = 0;
  std::optional<int> step;
  Difference difference;
};

}  // namespace tdconf
