// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <functional>

namespace tdref {

/// Visits every tensor leaf in insertion order, nested tensordicts depth first.
void for_each_leaf(const TensorDict& td,
                   const std::function<void(const KeyPath&, const Leaf&)>& visit);

/// Copies a tensordict with other tensors in its leaves, visited as for_each_leaf() does; the copy
/// is not locked.
TensorDict map_leaves(const TensorDict& td, const std::function<at::Tensor(const Leaf&)>& map);

}  // namespace tdref
