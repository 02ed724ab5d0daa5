// SPDX-License-Identifier: BSD-3-Clause
#include "tree/select.h"

#include <ATen/ops/select.h>

#include "tree/visit.h"

namespace tdref {
namespace {

Shape without(Shape shape, std::int64_t dim) {
  shape.erase(shape.begin() + dim);
  return shape;
}

NonTensor select_data(const std::string& key,
                      const NonTensor& data,
                      std::int64_t dim,
                      std::int64_t index) {
  if (!data.stacked) {
    return data;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      dim == 0, "the stack of non-tensor data under '", key, "' has rows along dimension 0 alone");
  const auto& row = (*data.data.get_if<Value::List>())[static_cast<std::size_t>(index)];
  return {row, row.is<Value::List>()};
}

Entry select_entry(const Item& item, std::int64_t dim, std::int64_t index) {
  const auto& [key, value] = item;
  if (const auto* leaf = value.leaf()) {
    return Leaf{at::select(leaf->tensor, dim, index), leaf->cls};
  }
  if (const auto* nested = value.nested()) {
    return select(*nested, dim, index);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      value.jagged() == nullptr, "one row of the jagged tensor under '", key, "' is not supported");
  return select_data(key, *value.non_tensor(), dim, index);
}

TensorDict select_items(const TensorDict& td, std::int64_t dim, std::int64_t index) {
  TensorDict row(without(td.batch_size(), dim), td.device());
  for (const auto& item : td.items()) {
    row.set(item.key, select_entry(item, dim, index));
  }
  return row;
}

AnyTensorDict select_member(const LazyStackedTensorDict& stack,
                            std::int64_t dim,
                            std::int64_t index) {
  if (dim == stack.stack_dim()) {
    return stack.members()[static_cast<std::size_t>(index)];
  }
  const bool is_before = dim < stack.stack_dim();
  std::vector<AnyTensorDict> members;
  for (const auto& member : stack.members()) {
    members.push_back(select(*member, is_before ? dim : dim - 1, index));
  }
  return LazyStackedTensorDict(std::move(members),
                               is_before ? stack.stack_dim() - 1 : stack.stack_dim(),
                               stack.stack_dim_name());
}

}  // namespace

AnyTensorDict select(const TensorDictBase& td, std::int64_t dim, std::int64_t index) {
  if (const auto* tensorclass = td.as<TensorClass>()) {
    return tensorclass->with(select_items(tensorclass->contents(), dim, index));
  }
  return visit_contents(
      td,
      Overloaded{
          [&](const TensorDict& items) -> AnyTensorDict { return select_items(items, dim, index); },
          [&](const LazyStackedTensorDict& stack) { return select_member(stack, dim, index); }});
}

}  // namespace tdref
