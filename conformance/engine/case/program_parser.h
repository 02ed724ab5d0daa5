// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/case/values.h"

namespace tdconf {

/// Reads the steps of every rank. `programs` holds one list of steps for each rank, with `$rank`
/// already substituted; `groups` are those of the case.
///
/// Errors  InputError: an unknown operation, argument, name or label, or steps that wait for one
///         another in a circle.
std::vector<std::vector<Step>> parse_programs(const std::vector<Node>& programs,
                                              const std::vector<Group>& groups,
                                              ValueTable& values);

}  // namespace tdconf
