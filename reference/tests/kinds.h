// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>
#include <vector>

namespace tdref::testing {

/// A tensordict that can be consolidated, of some kind or with some kind of leaf.
struct Kind {
  std::string name;
  AnyTensorDict td;
};

/// Lists one of each kind, all different from each other.
const std::vector<Kind>& kinds();

/// Returns what arrives where the wire names no class at the root: the fields of a tensorclass, else
/// `td` itself.
AnyTensorDict without_class(const AnyTensorDict& td);

/// Returns a tensordict with one entry.
TensorDict with(const std::string& key, Entry entry, Shape batch_size = {});

/// Returns a tensordict with a leaf that cannot be consolidated, at the end.
TensorDict with_sparse_leaf();

}  // namespace tdref::testing
