// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/input/node.h"

namespace tdconf {

/// Reads `after` and `expect.blocks` of every step in `programs` (one list of steps for each rank)
/// into the parsed steps.
///
/// Errors  InputError: an unknown or repeated label, a step that blocks its own rank, or steps that
///         wait for one another in a circle.
void parse_release_order(const std::vector<Node>& programs, std::vector<std::vector<Step>>& parsed);

}  // namespace tdconf
