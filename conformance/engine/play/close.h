// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

#include "engine/play/fleet.h"
#include "engine/play/record.h"

namespace tdconf {

/// Ends a case that passed, so that the adapters can play the next one, and notes what was left over.
/// A rank that does not answer in time, or answers with an error, gets a violation in the record.
void close_case(const std::vector<Adapter*>& adapters,
                Fleet& fleet,
                std::chrono::milliseconds limit,
                Record& record);

/// Kills the adapters of a case and notes how each of them ended.
void kill_ranks(const std::vector<Adapter*>& adapters, Fleet& fleet, Record& record);

}  // namespace tdconf
