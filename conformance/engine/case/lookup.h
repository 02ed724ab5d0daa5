// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/case/case.h"
#include "engine/input/node.h"

namespace tdconf {

/// Reads a global rank.
///
/// Errors  InputError: no rank of this world.
int parse_rank(const Node& node, std::string_view what, int world);

/// Returns the group that a step or a message names.
///
/// Errors  InputError: no such group, with those that there are.
const Group& find_group(const Node& node, const std::vector<Group>& groups);

/// Lists the members of a group, or of the world when there is no such group.
std::vector<int> members_of(const std::string& name, const std::vector<Group>& groups, int world);

/// Reads the path to a leaf, in which an integer is the index of a member of a lazy stack.
///
/// Errors  InputError.
Path parse_key(const Node& node);

/// Returns the tensor that `key` names in `tree`.
///
/// Errors  InputError: no such tensor, with those that there are.
const TensorLeaf& find_leaf(const Tree& tree, const Node& key);

}  // namespace tdconf
