// SPDX-License-Identifier: BSD-3-Clause
#include "tree/walk.h"

namespace tdref {
namespace {

void visit_below(const TensorDict& td,
                 KeyPath& path,
                 const std::function<void(const KeyPath&, const Leaf&)>& visit) {
  for (const auto& [key, value] : td.items()) {
    path.push_back(key);
    if (const auto* leaf = value.leaf()) {
      visit(path, *leaf);
    } else if (const auto* nested = value.nested()) {
      visit_below(*nested, path, visit);
    }
    path.pop_back();
  }
}

}  // namespace

void for_each_leaf(const TensorDict& td,
                   const std::function<void(const KeyPath&, const Leaf&)>& visit) {
  KeyPath path;
  visit_below(td, path, visit);
}

TensorDict map_leaves(const TensorDict& td, const std::function<at::Tensor(const Leaf&)>& map) {
  TensorDict copy(td.batch_size(), td.device());
  copy.set_names(td.names());
  for (const auto& [key, value] : td.items()) {
    if (const auto* leaf = value.leaf()) {
      copy.set(key, map(*leaf));
    } else if (const auto* nested = value.nested()) {
      copy.set(key, map_leaves(*nested, map));
    } else {
      copy.set(key, value);
    }
  }
  return copy;
}

}  // namespace tdref
