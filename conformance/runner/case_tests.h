// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/case/case.h"

namespace tdconf {

/// What to report to GoogleTest after a case has run; empty when it is as expected.
using RunCase = std::function<std::string(const Case&)>;

/// Registers one test for each case: the suite is the first component of the name, the test is the
/// rest, with `_` for the characters that a GoogleTest filter gives a meaning.
///
/// Errors  InputError: two cases would get one name.
void register_case_tests(const std::vector<Case>& cases, const RunCase& run_case);

/// Returns `SUITE.TEST`, the name under which a case is registered.
std::string test_name(const Case& c);

}  // namespace tdconf
