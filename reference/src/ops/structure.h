// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/plan.h>

#include <string>
#include <vector>

#include "tree/description.h"

namespace tdref {

/// Writes what a leaf-wise transfer carries, one line for how tags are counted and one for each
/// leaf: "float32[2, 3] 'n/b'". Two transfers fit exactly if their lines are equal.
std::string describe_leaves(const std::vector<PlannedLeaf>& plan, const TagOptions& tags);

/// Appends the line of one leaf, which begins with '\n': "float32[2, 3] 'n/b'".
void append_leaf(std::string& text,
                 const KeyPath& key,
                 at::ScalarType dtype,
                 c10::IntArrayRef shape);

/// Describes what the consolidated storage of a tensordict holds, or would hold: one line for its
/// size and one for each leaf, in the order of the bytes at which they start. Of a consolidated
/// tensordict it is written once.
DescriptionPtr description_of_storage(const TensorDictBase& td);

}  // namespace tdref
