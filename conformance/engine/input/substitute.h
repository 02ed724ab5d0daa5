// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/input/node.h"

namespace tdconf {

/// What `$name` stands for.
using Scope = std::map<std::string, nlohmann::json>;

/// Replaces each scalar `$name`, `$name+N` and `$name-N`, and the rank in `value@$name`, by what
/// `scope` says, in keys as in values. `$rank` stays when the scope does not hold it, since it
/// differs from rank to rank of one case.
///
/// Errors  InputError: a name that is not in scope, or arithmetic on something else than an integer.
Node substitute(const Node& node, const Scope& scope);

/// Returns the names that substitute() would look up.
std::set<std::string> names_referred_to(const Node& node);

}  // namespace tdconf
