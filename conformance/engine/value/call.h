// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tdconf {

/// True for the name of a call at the boundary of c10d, false for what happens to objects and
/// leaves.
bool is_call(std::string_view event);

/// True for the name of a call that all members of a group take part in.
bool is_collective(std::string_view event);

/// True for the name of a collective call in which one rank alone gives or gets.
bool has_root(std::string_view collective);

/// The names that a case may expect. An adapter may report others, which no case can ask for.
const std::vector<std::string>& known_collectives();

}  // namespace tdconf
