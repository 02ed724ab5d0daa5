// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"

#include <ATen/Functions.h>

namespace tdconf::bench {
namespace {

constexpr std::int64_t kModulus = 97;

// Computed in int64: uint8 would wrap before the remainder is taken.
at::Tensor values(const at::Tensor& leaf, int rank, std::size_t index) {
  const auto first = std::int64_t{rank + 1} * static_cast<std::int64_t>(index + 1);
  return at::arange(first, first + leaf.numel(), at::kLong).remainder(kModulus).view(leaf.sizes());
}

void check_leaf(const at::Tensor& leaf, std::size_t index, const at::Tensor& expected) {
  const auto wanted = expected.to(leaf.scalar_type());
  if (leaf.equal(wanted)) {
    return;
  }
  TORCH_CHECK_VALUE(leaf.sizes() == wanted.sizes(),
                    "leaf ",
                    index,
                    " has shape ",
                    leaf.sizes(),
                    ", expected ",
                    wanted.sizes());
  const auto at = leaf.ne(wanted).flatten().nonzero()[0].item<std::int64_t>();
  TORCH_CHECK_VALUE(false,
                    "leaf ",
                    index,
                    ", element ",
                    at,
                    " is ",
                    leaf.flatten()[at].item<double>(),
                    ", expected ",
                    wanted.flatten()[at].item<double>());
}

}  // namespace

Leaves new_leaves(const Case& c) {
  Leaves leaves;
  for (std::int64_t i = 0; i < c.leaves; ++i) {
    leaves.push_back(at::empty({c.elements()}, c.dtype));
  }
  return leaves;
}

void fill(const Leaves& leaves, int rank) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].copy_(values(leaves[i], rank, i));
  }
}

void poison(const Leaves& leaves) {
  for (const auto& leaf : leaves) {
    leaf.fill_(kModulus);
  }
}

void check_filled(const Leaves& leaves, int rank) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    check_leaf(leaves[i], i, values(leaves[i], rank, i));
  }
}

void check_summed(const Leaves& leaves, int world) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    auto sum = values(leaves[i], 0, i);
    for (int rank = 1; rank < world; ++rank) {
      sum += values(leaves[i], rank, i);
    }
    check_leaf(leaves[i], i, sum);
  }
}

}  // namespace tdconf::bench
