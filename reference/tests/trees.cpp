// SPDX-License-Identifier: BSD-3-Clause
#include "trees.h"

namespace tdref::testing {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bytes = [](const at::Tensor& tensor) {
    return tensor.to_dense().contiguous().view({-1}).view(at::kByte);
  };
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.layout() == b.layout() &&
         a.requires_grad() == b.requires_grad() && (a.is_meta() || bytes(a).equal(bytes(b)));
}

namespace {

bool same_leaf(const Leaf& a, const Leaf& b) {
  return a.cls == b.cls && same_bits(a.tensor, b.tensor);
}

bool same_jagged(const Jagged& a, const Jagged& b) {
  const bool same_lengths = a.lengths.defined() == b.lengths.defined() &&
                            (!a.lengths.defined() || same_bits(a.lengths, b.lengths));
  return same_lengths && a.ragged_idx == b.ragged_idx && same_bits(a.values, b.values) &&
         same_bits(a.offsets, b.offsets);
}

bool same_entry(const Entry& a, const Entry& b) {
  if (a.leaf() != nullptr && b.leaf() != nullptr) {
    return same_leaf(*a.leaf(), *b.leaf());
  }
  if (a.jagged() != nullptr && b.jagged() != nullptr) {
    return same_jagged(*a.jagged(), *b.jagged());
  }
  if (a.nested() != nullptr && b.nested() != nullptr) {
    return same(*a.nested(), *b.nested());
  }
  return a.non_tensor() != nullptr && b.non_tensor() != nullptr &&
         *a.non_tensor() == *b.non_tensor();
}

bool same_items(const TensorDict& a, const TensorDict& b) {
  if (a.names() != b.names() || a.device() != b.device() || a.keys() != b.keys()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_entry(a.items()[i].value, b.items()[i].value)) {
      return false;
    }
  }
  return true;
}

bool same_members(const LazyStackedTensorDict& a, const LazyStackedTensorDict& b) {
  if (a.stack_dim() != b.stack_dim() || a.stack_dim_name() != b.stack_dim_name() ||
      a.members().size() != b.members().size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    if (!same(*a.members()[i], *b.members()[i])) {
      return false;
    }
  }
  return true;
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

bool same(const TensorDictBase& a, const TensorDictBase& b) {
  if (a.batch_size() != b.batch_size()) {
    return false;
  }
  if (a.as<TensorDict>() != nullptr && b.as<TensorDict>() != nullptr) {
    return same_items(*a.as<TensorDict>(), *b.as<TensorDict>());
  }
  if (a.as<LazyStackedTensorDict>() != nullptr && b.as<LazyStackedTensorDict>() != nullptr) {
    return same_members(*a.as<LazyStackedTensorDict>(), *b.as<LazyStackedTensorDict>());
  }
  if (a.as<TensorClass>() != nullptr && b.as<TensorClass>() != nullptr) {
    return a.as<TensorClass>()->cls() == b.as<TensorClass>()->cls() &&
           same_items(a.as<TensorClass>()->contents(), b.as<TensorClass>()->contents());
  }
  const auto* file = a.as<PersistentTensorDict>();
  const auto* other = b.as<PersistentTensorDict>();
  return file != nullptr && other != nullptr && file->place() == other->place();
}

TensorDict plain(const AnyTensorDict& td) {
  const auto* of_its_kind = td->as<TensorDict>();
  TORCH_CHECK(of_its_kind != nullptr, "not a TensorDict");
  return *of_its_kind;
}

}  // namespace tdref::testing
