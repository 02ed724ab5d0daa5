// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"

namespace tdconf {

/// Reads one case document and expands it over its axes.
///
/// Order   one case for each element of the product of the axes, or of the union of products, named
///         `id/axis=value/...` with the axes sorted by name.
/// Errors  InputError `file:line: in WHAT: got GOT, allowed: ALLOWED`.
std::vector<Case> parse_cases(const Node& document);

}  // namespace tdconf
