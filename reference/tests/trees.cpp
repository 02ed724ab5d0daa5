// SPDX-License-Identifier: BSD-3-Clause
#include "trees.h"

namespace tdref::testing {
namespace {

bool same_tensor(const Leaf& a, const Leaf& b) {
  return a.is_parameter == b.is_parameter && a.tensor.dtype() == b.tensor.dtype() &&
         a.tensor.sizes() == b.tensor.sizes() && a.tensor.layout() == b.tensor.layout() &&
         a.tensor.requires_grad() == b.tensor.requires_grad() &&
         (a.tensor.is_meta() || a.tensor.to_dense().contiguous().view({-1}).view(at::kByte).equal(
                                    b.tensor.to_dense().contiguous().view({-1}).view(at::kByte)));
}

bool same_entry(const Entry& a, const Entry& b) {
  if (a.leaf() != nullptr && b.leaf() != nullptr) {
    return same_tensor(*a.leaf(), *b.leaf());
  }
  if (a.nested() != nullptr && b.nested() != nullptr) {
    return same(*a.nested(), *b.nested());
  }
  return a.non_tensor() != nullptr && b.non_tensor() != nullptr &&
         *a.non_tensor() == *b.non_tensor();
}

}  // namespace

at::Tensor ramp(int first, std::int64_t size) {
  return at::arange(first, first + size, at::kFloat);
}

at::Tensor false_true() {
  return at::arange(2, at::kLong).to(at::kBool);
}

TensorDict sample(int first) {
  TensorDict nested({2});
  nested.set("c", false_true());
  TensorDict td({2});
  td.set("b", ramp(first, 6).view({2, 3}));
  td.set("a", at::arange(first, first + 2, at::kLong));
  td.set("n", nested);
  return td;
}

TensorDict poisoned_sample() {
  TensorDict nested({2});
  nested.set("c", at::ones({2}, at::kBool));
  TensorDict td({2});
  td.set("n", nested);
  td.set("a", at::full({2}, -1, at::kLong));
  td.set("b", at::full({2, 3}, -1, at::kFloat));
  return td;
}

bool same(const TensorDict& a, const TensorDict& b) {
  if (a.batch_size() != b.batch_size() || a.names() != b.names() || a.device() != b.device() ||
      a.keys() != b.keys()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_entry(a.items()[i].value, b.items()[i].value)) {
      return false;
    }
  }
  return true;
}

}  // namespace tdref::testing
