// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace tdconf {

/// Matches a name against a pattern, both split at `/`.
///
/// Order   within one component `*` stands for any characters; the component `**` stands for any
///         number of components, also none.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace tdconf
