// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/play/record.h"
#include "engine/value/compare.h"

namespace tdconf {

enum class Verdict { kPass, kFail, kCrash, kHang, kUnsupported, kError, kNotRun };

std::string to_string(Verdict verdict);

/// One thing that is not as the case says.
struct Finding {
  Verdict verdict = Verdict::kFail;
  int rank = 0;
  /// From 0; nothing for what happened outside any step.
  std::optional<int> step;
  std::string op;
  Difference difference;
  /// One line: where, and the difference.
  std::string text;
};

struct Judgement {
  Verdict verdict = Verdict::kPass;
  /// The text of the finding that decides; empty for a pass.
  std::string signature;
  std::vector<Finding> findings;
};

/// Compares what a case says with what was seen. It looks at nothing else.
///
/// Order   the worst finding decides: crash, error, fail, unsupported, hang; among equals the lowest
///         rank and step, which does not depend on who answered first; what steps answered comes
///         before what was seen at the boundary of c10d.
Judgement judge(const Case& c, const Record& record);

}  // namespace tdconf
