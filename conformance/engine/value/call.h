// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tdconf {

/// True for the name of a call at the boundary of c10d, false for what happens to objects and
/// leaves.
bool is_call(std::string_view event);

/// True for the name of a call that all members of a group take part in.
bool is_collective(std::string_view event);

}  // namespace tdconf
