// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/value/compare.h"
#include "engine/value/snapshot.h"

namespace tdconf {

/// Lists where a snapshot differs from what the step expects of it. `made` is the snapshot that the
/// rank gave when it made the value, or null.
std::vector<Difference> check_snapshot(const Step& step,
                                       const Snapshot& seen,
                                       const Snapshot* made);

}  // namespace tdconf
