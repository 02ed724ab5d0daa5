// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "engine/case/case.h"
#include "engine/play/record.h"

namespace tdconf {

/// Takes what a rank reports into its record, with the steps numbered as in the case. A transcript
/// that is missing, unasked for, or speaks of groups and ranks that do not exist is a violation.
void adopt_transcript(const Case& c,
                      const std::optional<Transcript>& transcript,
                      RankRecord& record);

}  // namespace tdconf
