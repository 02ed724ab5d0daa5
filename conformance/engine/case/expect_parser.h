// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "engine/case/case.h"
#include "engine/case/operation.h"

namespace tdconf {

/// Evaluates an EXPR for the rank and the group of the step at hand.
using Evaluate = std::function<TreePtr(const Node&)>;

/// What is known of the value that a step looks at.
struct Known {
  /// What it was made of; null when no step of this rank made it.
  TreePtr made;
  /// Whether an earlier step showed where its tensors lie.
  bool has_memory = false;
};

/// Reads `expect` of a step.
///
/// Errors  InputError: an unknown key, or one that says nothing about this operation.
Expect parse_expect(const Node& node,
                    const Operation& operation,
                    const Known& known,
                    const Evaluate& evaluate);

}  // namespace tdconf
