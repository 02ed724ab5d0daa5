// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/play/message.h"
#include "engine/value/compare.h"

namespace tdconf {

/// Lists where a step that returned differs from what the case expects of it. `answers` are those
/// of the rank up to and including this step.
std::vector<Difference> check_returned(const Step& step, const std::vector<Answer>& answers);

/// Lists where a consolidated storage, or the front of a longer buffer, differs outside its padding.
std::vector<Difference> check_storage(const ExpectedStorage& expected, const SeenBytes& seen);

}  // namespace tdconf
