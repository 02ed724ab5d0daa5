// SPDX-License-Identifier: BSD-3-Clause
#include "tree/stack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include "tree/kinds.h"

namespace tdref {
namespace {

void check_rows_agree(const std::vector<TensorDict>& rows) {
  TORCH_CHECK(!rows.empty(), "stack expects at least one tensordict");
  const auto& first = rows.front();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    TORCH_CHECK(rows[i].batch_size() == first.batch_size(),
                "stacked tensordicts have one batch size: row ",
                i,
                " has ",
                c10::IntArrayRef(rows[i].batch_size()),
                ", row 0 has ",
                c10::IntArrayRef(first.batch_size()));
    TORCH_CHECK(rows[i].size() == first.size(),
                "stacked tensordicts have the same keys: row ",
                i,
                " has ",
                rows[i].keys(),
                ", row 0 has ",
                first.keys());
    for (const auto& item : first.items()) {
      const auto* other = rows[i].find(item.key);
      TORCH_CHECK(other != nullptr,
                  "stacked tensordicts have the same keys: row ",
                  i,
                  " has no '",
                  item.key,
                  "'");
      check_same_kind(item.key, item.value, *other);
    }
  }
}

at::Tensor stack_leaf(const std::vector<TensorDict>& rows,
                      const std::string& key,
                      std::int64_t dim) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : rows) {
    tensors.push_back(row.get(key).tensor());
    const auto& first = tensors.front();
    const auto& last = tensors.back();
    TORCH_CHECK(last.sizes() == first.sizes() && last.scalar_type() == first.scalar_type() &&
                    last.layout() == first.layout() && last.device() == first.device(),
                "the tensors under '",
                key,
                "' cannot be stacked: row ",
                tensors.size() - 1,
                " has shape ",
                last.sizes(),
                " and dtype ",
                last.dtype(),
                ", row 0 has ",
                first.sizes(),
                " and ",
                first.dtype());
  }
  const at::NoGradGuard rows_have_no_history;
  return at::stack(tensors, dim);
}

NonTensor stack_data(const std::vector<TensorDict>& rows,
                     const std::string& key,
                     std::int64_t dim) {
  TORCH_CHECK(dim == 0, "non-tensor data under '", key, "' can only be stacked along dimension 0");
  Value::List data;
  for (const auto& row : rows) {
    data.push_back(row.get(key).non_tensor()->data);
  }
  return {std::move(data), true};
}

TensorDict stack_nested(const std::vector<TensorDict>& rows,
                        const std::string& key,
                        std::int64_t dim) {
  std::vector<TensorDict> nested;
  for (const auto& row : rows) {
    nested.push_back(*row.get(key).nested());
  }
  return stack(nested, dim);
}

}  // namespace

TensorDict stack(const std::vector<TensorDict>& rows, std::int64_t dim) {
  check_rows_agree(rows);
  Shape batch_size = rows.front().batch_size();
  TORCH_CHECK(dim >= 0 && dim <= static_cast<std::int64_t>(batch_size.size()),
              "the stack dimension ",
              dim,
              " is not within the batch dimensions");
  batch_size.insert(batch_size.begin() + dim, static_cast<std::int64_t>(rows.size()));
  TensorDict result(std::move(batch_size), rows.front().device());
  for (const auto& [key, value] : rows.front().items()) {
    if (value.leaf() != nullptr) {
      result.set(key, stack_leaf(rows, key, dim));
    } else if (value.nested() != nullptr) {
      result.set(key, stack_nested(rows, key, dim));
    } else {
      result.set(key, stack_data(rows, key, dim));
    }
  }
  return result;
}

}  // namespace tdref
