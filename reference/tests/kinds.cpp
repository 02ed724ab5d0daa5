// SPDX-License-Identifier: BSD-3-Clause
#include "kinds.h"

#include <tdref/consolidate.h>
#include <tdref/lazy_stack.h>

#include "trees.h"

namespace tdref::testing {
namespace {

// In the order in which metadata names a level's entries, so that it is also that of the result.
TensorDict nested(int first) {
  TensorDict td({2});
  td.set("b", ramp(first, 6).view({2, 3}));
  td.set("a", at::arange(first, first + 2, at::kLong));
  td.set("n", with("c", false_true(), {2}));
  return td;
}

TensorDict named() {
  TensorDict td({2}, at::Device(at::kCPU));
  td.set("text", NonTensor{"x"});
  td.set("a", at::ones({2}));
  td.set_names({"time"});
  return td;
}

std::vector<Kind> make_kinds() {
  const Jagged jagged{.values = ramp(1, 5), .offsets = at::tensor({0, 2, 5}, at::kLong)};
  return {
      {"Nested", nested(1)},
      {"Empty", TensorDict({3})},
      {"EmptyNested", with("n", TensorDict({2}), {2})},
      {"ZeroElements", with("a", at::zeros({0, 3}))},
      {"NoDimensions", with("a", at::ones({}, at::kBFloat16))},
      {"Transposed", with("a", ramp(0, 6).view({2, 3}).t())},
      {"NamesDeviceAndText", named()},
      {"StackOfNonTensors", with("rows", NonTensor{Value::List{1, "y"}, true}, {2})},
      {"LazyStack", LazyStackedTensorDict({nested(10), nested(50)}, 0)},
      {"RaggedLazyStack",
       LazyStackedTensorDict({with("a", at::zeros({1})), with("a", at::ones({2}))}, 0)},
      {"Jagged", with("j", jagged, {2})},
      {"TensorClass",
       TensorClass({"a.module", "Pair"}, with("n", TensorClass({"m", "Inner"}, TensorDict())))},
      {"Consolidated", consolidate(nested(100))},
  };
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = make_kinds();
  return all;
}

AnyTensorDict without_class(const AnyTensorDict& td) {
  const auto* tensorclass = td->as<TensorClass>();
  return tensorclass == nullptr ? td : AnyTensorDict(tensorclass->contents());
}

TensorDict with(const std::string& key, Entry entry, Shape batch_size) {
  TensorDict td(std::move(batch_size));
  td.set(key, std::move(entry));
  return td;
}

TensorDict with_sparse_leaf() {
  auto td = with("a", at::ones({2}));
  td.set("z", at::eye(2).to_sparse());
  return td;
}

}  // namespace tdref::testing
