// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/judge/wire.h"
#include "engine/play/record.h"

namespace tdconf {

/// Compares what each rank with a transcript did in all its steps but `make` and `consolidate` with
/// `transcript` of the case.
std::vector<WireDifference> check_transcript(const Case& c, const Record& record);

}  // namespace tdconf
