// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "engine/input/substitute.h"

namespace tdconf {

/// Lists every choice of values that the `axes` of a case stand for; without axes, one empty choice.
///
/// Errors  InputError: an empty axis, or a value that cannot stand in a name.
std::vector<Scope> choices_of_axes(const Node* axes);

/// Errors  InputError: an axis that nothing else in the case refers to, so that it would be expanded
///         into equal cases.
void check_axes_are_used(const Node& document);

/// Writes `id/axis=value/...`, the axes sorted by name.
std::string expanded_name(const std::string& id, const Scope& choice);

/// Writes one value of an axis as it stands in a name.
std::string axis_value(const nlohmann::json& value);

}  // namespace tdconf
