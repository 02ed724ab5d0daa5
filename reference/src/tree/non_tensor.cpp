// SPDX-License-Identifier: BSD-3-Clause
#include "tree/non_tensor.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace tdref {
namespace {

std::size_t dims_of(const NonTensor& data) {
  return data.stacked ? 1 + data.nested_stacks : 0;
}

std::vector<std::int64_t> rows_of(const Value& data, std::size_t dims) {
  if (dims == 0) {
    return {};
  }
  const auto* list = data.get_if<Value::List>();
  TORCH_CHECK_VALUE(
      list != nullptr, "a stack of non-tensor data is a ", data.type_name(), "; allowed is a list");
  std::vector<std::int64_t> below(dims - 1, 0);
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto rows = rows_of((*list)[i], dims - 1);
    TORCH_CHECK_VALUE(i == 0 || rows == below,
                      "the rows of a stack of non-tensor data differ in their numbers of rows");
    below = std::move(rows);
  }
  below.insert(below.begin(), static_cast<std::int64_t>(list->size()));
  return below;
}

// How many levels of lists have a row for each of the batch dimensions from `dim` on.
std::size_t levels_of(const Value& data,
                      const std::vector<std::int64_t>& batch_size,
                      std::size_t dim) {
  const auto* list = data.get_if<Value::List>();
  if (dim == batch_size.size() || list == nullptr || list->empty() ||
      static_cast<std::int64_t>(list->size()) != batch_size[dim]) {
    return 0;
  }
  std::size_t below = batch_size.size();
  for (const auto& row : *list) {
    below = std::min(below, levels_of(row, batch_size, dim + 1));
  }
  return 1 + below;
}

}  // namespace

NonTensor stack_data(const std::vector<NonTensor>& rows) {
  Value::List data;
  for (const auto& row : rows) {
    TORCH_CHECK_VALUE(dims_of(row) == dims_of(rows.front()),
                      "row ",
                      data.size(),
                      " of non-tensor data is a stack of ",
                      dims_of(row),
                      " dimensions, row 0 of ",
                      dims_of(rows.front()),
                      "; allowed are rows of one form");
    data.push_back(row.data);
  }
  return {std::move(data), true, rows.empty() ? 0 : dims_of(rows.front())};
}

NonTensor row_of(const NonTensor& stack, std::size_t index) {
  const auto& row = (*stack.data.get_if<Value::List>())[index];
  const bool is_stack = stack.nested_stacks > 0;
  return {row, is_stack, is_stack ? stack.nested_stacks - 1 : 0};
}

NonTensor stacked_lists(Value lists, const std::vector<std::int64_t>& batch_size) {
  const auto levels = levels_of(lists, batch_size, 0);
  TORCH_CHECK_VALUE(levels > 0,
                    "a stack of non-tensor data has no row for each row of the batch size ",
                    c10::IntArrayRef(batch_size));
  return {std::move(lists), true, levels - 1};
}

std::vector<std::int64_t> rows_of(const NonTensor& stack) {
  return rows_of(stack.data, dims_of(stack));
}

}  // namespace tdref
