// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <functional>

namespace tdref {

/// Names a member of a lazy stack within a key path, and in metadata: its number.
std::string member_key(std::size_t index);

// The parts of the jagged tensor under a key, as consolidated metadata calls them.
std::string values_key(const std::string& key);
std::string lengths_key(const std::string& key);
std::string offsets_key(const std::string& key);

/// Visits every entry that is a tensor or a jagged tensor in insertion order, nested tensordicts
/// depth first, lazy stacks member by member.
void for_each_leaf(const TensorDictBase& td,
                   const std::function<void(const KeyPath&, const Entry&)>& visit);

/// Visits every tensor as for_each_leaf() does; of a jagged tensor its values, its lengths if it
/// has them, and its offsets.
void for_each_tensor(const TensorDictBase& td,
                     const std::function<void(const KeyPath&, const at::Tensor&)>& visit);

/// Copies a tensordict with other tensors in its leaves, visited as for_each_tensor() does; the
/// copy is not locked, and a persistent tensordict becomes one in memory; a tensorclass stays one.
AnyTensorDict map_tensors(const TensorDictBase& td,
                          const std::function<at::Tensor(const at::Tensor&)>& map);

/// Whether the tensordict is persistent, or holds one that is.
bool holds_persistent(const TensorDictBase& td);

}  // namespace tdref
