// SPDX-License-Identifier: BSD-3-Clause
#include "tree/select.h"

#include <ATen/ops/narrow.h>
#include <ATen/ops/select.h>

#include "tree/non_tensor.h"
#include "tree/visit.h"

namespace tdref {
namespace {

// Some rows of one dimension. Without a length it is one row, and the dimension goes away.
struct Rows {
  std::int64_t dim;
  std::int64_t start;
  std::optional<std::int64_t> length;
};

AnyTensorDict take(const TensorDictBase& td, const Rows& rows);

Shape batch_size_of(Shape shape, const Rows& rows) {
  if (rows.length) {
    shape[static_cast<std::size_t>(rows.dim)] = *rows.length;
  } else {
    shape.erase(shape.begin() + rows.dim);
  }
  return shape;
}

DimNames names_of(DimNames names, const Rows& rows) {
  if (!rows.length && !names.empty()) {
    names.erase(names.begin() + rows.dim);
  }
  return names;
}

at::Tensor take_elements(const at::Tensor& tensor, const Rows& rows) {
  return rows.length ? at::narrow(tensor, rows.dim, rows.start, *rows.length)
                     : at::select(tensor, rows.dim, rows.start);
}

NonTensor take_data(const std::string& key, const NonTensor& data, const Rows& rows) {
  if (!data.stacked) {
    return data;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(rows.dim == 0,
                              "the stack of non-tensor data under '",
                              key,
                              "' has rows along dimension 0 alone");
  if (!rows.length) {
    return row_of(data, static_cast<std::size_t>(rows.start));
  }
  const auto first = data.data.get_if<Value::List>()->begin() + rows.start;
  return {Value::List(first, first + *rows.length), true, data.nested_stacks};
}

Entry take_entry(const Item& item, const Rows& rows) {
  const auto& [key, value] = item;
  if (const auto* leaf = value.leaf()) {
    return Leaf{take_elements(leaf->tensor, rows), leaf->cls};
  }
  if (const auto* nested = value.nested()) {
    return take(*nested, rows);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      value.jagged() == nullptr, "rows of the jagged tensor under '", key, "' are not supported");
  return take_data(key, *value.non_tensor(), rows);
}

TensorDict take_items(const TensorDict& td, const Rows& rows) {
  TensorDict part(batch_size_of(td.batch_size(), rows), td.device());
  part.set_names(names_of(td.names(), rows));
  for (const auto& item : td.items()) {
    part.set(item.key, take_entry(item, rows));
  }
  return part;
}

AnyTensorDict take_members(const LazyStackedTensorDict& stack, const Rows& rows) {
  const auto first = stack.members().begin() + rows.start;
  if (!rows.length) {
    return *first;
  }
  return LazyStackedTensorDict(std::vector<AnyTensorDict>(first, first + *rows.length),
                               stack.stack_dim(),
                               stack.stack_dim_name());
}

AnyTensorDict take_of_members(const LazyStackedTensorDict& stack, const Rows& rows) {
  const bool is_before = rows.dim < stack.stack_dim();
  const Rows of_member{is_before ? rows.dim : rows.dim - 1, rows.start, rows.length};
  std::vector<AnyTensorDict> members;
  for (const auto& member : stack.members()) {
    members.push_back(take(*member, of_member));
  }
  return LazyStackedTensorDict(
      std::move(members),
      is_before && !rows.length ? stack.stack_dim() - 1 : stack.stack_dim(),
      stack.stack_dim_name());
}

AnyTensorDict take(const TensorDictBase& td, const Rows& rows) {
  if (const auto* tensorclass = td.as<TensorClass>()) {
    return tensorclass->with(take_items(tensorclass->contents(), rows));
  }
  return visit_contents(
      td,
      Overloaded{[&](const TensorDict& items) -> AnyTensorDict { return take_items(items, rows); },
                 [&](const LazyStackedTensorDict& stack) {
                   return rows.dim == stack.stack_dim() ? take_members(stack, rows)
                                                        : take_of_members(stack, rows);
                 }});
}

}  // namespace

AnyTensorDict select(const TensorDictBase& td, std::int64_t dim, std::int64_t index) {
  return take(td, {dim, index, std::nullopt});
}

AnyTensorDict narrow(const TensorDictBase& td,
                     std::int64_t dim,
                     std::int64_t start,
                     std::int64_t length) {
  return take(td, {dim, start, length});
}

}  // namespace tdref
