// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

#include "engine/case/case.h"
#include "engine/play/fleet.h"
#include "engine/play/record.h"

namespace tdconf {

/// Ends a case in which every step was answered, and notes what each rank did and what was left over.
/// A rank that does not answer in time, or answers with an error, gets a violation in the record.
void end_case(const Case& c,
              const std::vector<Adapter*>& adapters,
              Fleet& fleet,
              std::chrono::milliseconds limit,
              Record& record);

/// Looks at the ranks of a case in which not every step was answered: what each of them did so far,
/// and the stacks of those that have not answered. A rank that keeps silent is not held to blame.
void look_at_ranks(const Case& c,
                   const std::vector<Adapter*>& adapters,
                   Fleet& fleet,
                   Record& record);

/// Makes the adapters of a case that passed ready for the next one. Whoever fails in it gets a
/// violation in the record.
void reset_ranks(const std::vector<Adapter*>& adapters,
                 Fleet& fleet,
                 std::chrono::milliseconds limit,
                 Record& record);

/// Kills the adapters of a case and notes how each of them ended.
void kill_ranks(const std::vector<Adapter*>& adapters, Fleet& fleet, Record& record);

}  // namespace tdconf
