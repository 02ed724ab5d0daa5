// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/judge/expectations.h"
#include "runner/options.h"

namespace tdconf {

/// Everything that was read before anything is started.
struct Input {
  Options options;
  /// All expanded cases, the selected ones, and those of this job.
  std::vector<Case> all;
  std::vector<Case> selected;
  std::vector<Case> cases;
  std::vector<Expectation> expectations;
};

/// Runs the cases of this job through GoogleTest, writes the results, and returns the exit status.
///
/// Errors  InputError before anything is started.
int run(const Input& input);

}  // namespace tdconf
