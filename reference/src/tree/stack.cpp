// SPDX-License-Identifier: BSD-3-Clause
#include "tree/stack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "tree/kinds.h"
#include "tree/non_tensor.h"
#include "tree/visit.h"

namespace tdref {
namespace {

void check_rows_agree(const std::vector<TensorDict>& rows) {
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

NonTensor stack_data_under(const std::vector<TensorDict>& rows,
                           const std::string& key,
                           std::int64_t dim) {
  TORCH_CHECK(dim == 0, "non-tensor data under '", key, "' can only be stacked along dimension 0");
  std::vector<NonTensor> data;
  for (const auto& row : rows) {
    data.push_back(*row.get(key).non_tensor());
  }
  return stack_data(data);
}

Entry stack_nested(const std::vector<TensorDict>& rows, const std::string& key, std::int64_t dim) {
  std::vector<AnyTensorDict> nested;
  for (const auto& row : rows) {
    nested.push_back(AnyTensorDict(*row.get(key).nested()));
  }
  return stack(nested, dim);
}

TensorDict stack_dense(const std::vector<TensorDict>& rows, std::int64_t dim) {
  check_rows_agree(rows);
  const auto& first = rows.front();
  TensorDict result(with_stack_dim(first.batch_size(), dim, rows.size()), first.device());
  for (const auto& [key, value] : first.items()) {
    TORCH_CHECK(value.jagged() == nullptr,
                "the jagged tensors under '",
                key,
                "' cannot be stacked: that takes a second ragged dimension");
    if (value.leaf() != nullptr) {
      result.set(key, stack_leaf(rows, key, dim));
    } else if (value.nested() != nullptr) {
      result.set(key, stack_nested(rows, key, dim));
    } else {
      result.set(key, stack_data_under(rows, key, dim));
    }
  }
  return result;
}

bool are_lazy_alike(const std::vector<AnyTensorDict>& rows) {
  const auto* first = rows.front()->as<LazyStackedTensorDict>();
  return first != nullptr && std::all_of(rows.begin(), rows.end(), [&](const AnyTensorDict& row) {
           const auto* lazy = row->as<LazyStackedTensorDict>();
           return lazy != nullptr && lazy->stack_dim() == first->stack_dim() &&
                  lazy->members().size() == first->members().size();
         });
}

// Stacks all first members, all second members, and so on. `dim` is a new dimension before, at or
// behind the one that the rows are stacked along.
LazyStackedTensorDict stack_members(const std::vector<AnyTensorDict>& rows, std::int64_t dim) {
  const auto& first = *rows.front()->as<LazyStackedTensorDict>();
  const bool is_before = dim <= first.stack_dim();
  std::vector<AnyTensorDict> members;
  for (std::size_t i = 0; i < first.members().size(); ++i) {
    std::vector<AnyTensorDict> alike;
    for (const auto& row : rows) {
      alike.push_back(row->as<LazyStackedTensorDict>()->members()[i]);
    }
    members.push_back(stack(alike, is_before ? dim : dim - 1));
  }
  return LazyStackedTensorDict(std::move(members),
                               is_before ? first.stack_dim() + 1 : first.stack_dim(),
                               first.stack_dim_name());
}

bool are_of_one_class(const std::vector<AnyTensorDict>& rows) {
  const auto* first = rows.front()->as<TensorClass>();
  return first != nullptr && std::all_of(rows.begin(), rows.end(), [&](const AnyTensorDict& row) {
           const auto* other = row->as<TensorClass>();
           return other != nullptr && other->cls() == first->cls();
         });
}

bool are_plain(const std::vector<AnyTensorDict>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const AnyTensorDict& row) {
    return row->as<TensorDict>() != nullptr;
  });
}

// Not dense: lazy stacks below them stay lazy.
std::vector<TensorDict> as_they_are(const std::vector<AnyTensorDict>& rows) {
  std::vector<TensorDict> items;
  for (const auto& row : rows) {
    items.push_back(*items_of(*row));
  }
  return items;
}

std::vector<TensorDict> all_dense(const std::vector<AnyTensorDict>& rows) {
  std::vector<TensorDict> dense;
  for (const auto& row : rows) {
    dense.push_back(to_dense(*row));
  }
  return dense;
}

TensorDict dense_items(const TensorDict& td) {
  TensorDict dense(td.batch_size(), td.device());
  dense.set_names(td.names());
  for (const auto& [key, value] : td.items()) {
    const auto* nested = value.nested();
    const auto* tensorclass = nested == nullptr ? nullptr : nested->as<TensorClass>();
    if (tensorclass != nullptr) {
      dense.set(key, tensorclass->with(to_dense(*nested)));
    } else {
      dense.set(key, nested == nullptr ? value : Entry(to_dense(*nested)));
    }
  }
  return dense;
}

}  // namespace

Shape with_stack_dim(Shape batch_size, std::int64_t stack_dim, std::size_t count) {
  TORCH_CHECK_VALUE(0 <= stack_dim && stack_dim <= static_cast<std::int64_t>(batch_size.size()),
                    "the stack dimension ",
                    stack_dim,
                    " is not within the batch dimensions; allowed are 0 to ",
                    batch_size.size());
  batch_size.insert(batch_size.begin() + stack_dim, static_cast<std::int64_t>(count));
  return batch_size;
}

AnyTensorDict stack(const std::vector<AnyTensorDict>& rows, std::int64_t dim) {
  TORCH_CHECK(!rows.empty(), "stack expects at least one tensordict");
  if (are_lazy_alike(rows)) {
    return stack_members(rows, dim);
  }
  if (are_of_one_class(rows)) {
    return rows.front()->as<TensorClass>()->with(stack_dense(as_they_are(rows), dim));
  }
  return stack_dense(are_plain(rows) ? as_they_are(rows) : all_dense(rows), dim);
}

TensorDict to_dense(const TensorDictBase& td) {
  return visit_kind(
      td,
      Overloaded{
          [](const TensorDict& plain) { return dense_items(plain); },
          [](const LazyStackedTensorDict& stack) {
            return stack_dense(all_dense(stack.members()), stack.stack_dim());
          },
          [](const PersistentTensorDict& persistent) { return persistent.contents(); },
          [](const TensorClass& tensorclass) { return dense_items(tensorclass.contents()); }});
}

}  // namespace tdref
