// SPDX-License-Identifier: BSD-3-Clause
#include "common/tree.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tdconf::bench {
namespace {

constexpr std::size_t kDigits = 4;

std::string key_of(std::size_t index) {
  auto digits = std::to_string(index);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return "l" + digits;
}

}  // namespace

tdref::TensorDict make_tree(const Case& c, const Leaves& leaves, const tdref::Shape& batch_size) {
  const auto levels = static_cast<std::size_t>(c.depth) + 1;
  std::vector<tdref::TensorDict> chain(levels, tdref::TensorDict(batch_size));
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    deepest = i * levels / leaves.size();
    chain[deepest].set(key_of(i), leaves[i]);
  }
  for (; deepest > 0; --deepest) {
    chain[deepest - 1].set("n", std::move(chain[deepest]));
  }
  return std::move(chain[0]);
}

Leaves leaves_of(const tdref::TensorDictBase& td) {
  const auto* tree = td.as<tdref::TensorDict>();
  TORCH_CHECK_VALUE(tree != nullptr, "what arrived is not a TensorDict");
  Leaves leaves;
  for (const auto& [key, entry] : tree->items()) {
    if (const auto* nested = entry.nested()) {
      const auto below = leaves_of(*nested);
      leaves.insert(leaves.end(), below.begin(), below.end());
    } else {
      leaves.push_back(entry.tensor());
    }
  }
  return leaves;
}

}  // namespace tdconf::bench
