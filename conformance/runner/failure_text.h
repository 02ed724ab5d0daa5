// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "engine/case/case.h"
#include "engine/judge/results.h"

namespace tdconf {

/// Says what a person needs to know of a case that is not as expected: verdict, clauses, findings,
/// stacks of a hang, the ends of the logs, and the command that repeats it.
std::string failure_text(const Case& c, const CaseResult& result);

}  // namespace tdconf
