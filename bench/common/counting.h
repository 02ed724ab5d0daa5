// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/control.h"
#include "common/operation.h"

namespace tdconf::bench {

/// Counts what this rank does in one operation; see counting/counting.h. It must have run before,
/// so that whatever starts late has started.
///
/// Blocks  until every rank has done so, and every thread of this process sleeps.
nlohmann::json count(const std::string& name, Operation& operation, Control& control);

}  // namespace tdconf::bench
