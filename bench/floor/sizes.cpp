// SPDX-License-Identifier: BSD-3-Clause
#include "floor/sizes.h"

#include <ATen/ops/empty.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include "common/tree.h"

namespace tdconf::bench::floor {
namespace {

std::int64_t size_of(const std::string& pickle) {
  return static_cast<std::int64_t>(pickle.size());
}

}  // namespace

Sizes sizes_of(const Case& c) {
  const auto leaves = new_leaves(c);
  fill(leaves, 0);
  const auto tree = make_tree(c, leaves);
  const auto consolidated = tdref::consolidate(tree);
  auto metadata = tdref::consolidated_metadata(consolidated);
  Sizes sizes{.storage = consolidated.consolidated().storage.numel(),
              .metadata = size_of(tdref::pickle_value(metadata)),
              .pickle = size_of(tdref::pickle_tensordict(tree))};
  metadata.get_if<tdref::Value::Dict>()->emplace_back("_total_bytes", sizes.storage);
  sizes.object = size_of(tdref::pickle_value(metadata));
  return sizes;
}

at::Tensor new_bytes(std::int64_t bytes) {
  return at::empty({bytes}, at::kByte);
}

}  // namespace tdconf::bench::floor
