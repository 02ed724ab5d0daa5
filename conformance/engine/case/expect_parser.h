// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "engine/case/case.h"
#include "engine/case/operation.h"

namespace tdconf {

/// Evaluates an EXPR for the rank and the group of the step at hand.
using Evaluate = std::function<TreePtr(const Node&)>;

/// Reads `expect` of a step; `made` is the value that the step looks at, or null when no step of
/// this rank made it.
///
/// Errors  InputError: an unknown key, or one that says nothing about this operation.
Expect parse_expect(const Node& node,
                    const Operation& operation,
                    const TreePtr& made,
                    const Evaluate& evaluate);

}  // namespace tdconf
