// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/judge/wire.h"
#include "engine/play/record.h"

namespace tdconf {

/// Lists all that differs at the boundary of c10d.
///
/// Order   both ends and what collective calls gave are always compared; `messages` and `transcript`
///         once every rank has answered every step, since after a hang or a crash much is missing,
///         of which that is the reason.
std::vector<WireDifference> check_wire(const Case& c, const Record& record);

}  // namespace tdconf
