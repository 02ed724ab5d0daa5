// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/judge/wire.h"
#include "engine/play/record.h"

namespace tdconf {

/// Compares what the ranks of a group hold after a collective call that gives all of them the same:
/// after `broadcast` what its root handed over, after `all_reduce` one result.
///
/// Order   the n-th collective call of a rank in a group meets the n-th of the others; calls that are
///         not the same one, and those that are not done, are not compared.
std::vector<WireDifference> check_collectives(const Case& c, const Record& record);

}  // namespace tdconf
