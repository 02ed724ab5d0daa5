// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "engine/case/case.h"

namespace tdconf {

/// Describes a case for programs that ask what it says: the document after substitution, and what
/// the judge reads out of it. Ranks and steps count from 0.
nlohmann::json describe(const Case& c);

}  // namespace tdconf
