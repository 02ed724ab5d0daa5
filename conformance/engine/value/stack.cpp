// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "engine/value/tree.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;
using Rows = std::vector<const Tree*>;

[[noreturn]] void refuse_rows(const Path& path, const char* difference) {
  throw std::invalid_argument(
      concat("cannot stack: the rows differ in ", difference, " at `", dotted(path), "`"));
}

Shape with_first_dimension(std::size_t rows, const Shape& shape) {
  Shape result{static_cast<std::int64_t>(rows)};
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

Tree stack_rows(const Rows& rows, Path& path);

Tree stack_tensors(const Rows& rows, const Path& path) {
  const TensorLeaf& first = *rows.front()->tensor();
  TensorLeaf result{first.dtype, with_first_dimension(rows.size(), first.shape), {}, "plain"};
  for (const Tree* row : rows) {
    const TensorLeaf& leaf = *row->tensor();
    if (leaf.dtype != first.dtype) refuse_rows(path, "dtype");
    if (leaf.shape != first.shape) refuse_rows(path, "shape");
    result.parts.insert(result.parts.end(), leaf.parts.begin(), leaf.parts.end());
  }
  return {result};
}

Tree stack_non_tensors(const Rows& rows) {
  NonTensor result{json::array(),
                   with_first_dimension(rows.size(), non_tensor_data(*rows.front())->batch_size)};
  for (const Tree* row : rows) result.data.push_back(non_tensor_data(*row)->data);
  return {result};
}

/// A lazy stack stays lazy: its members are stacked one by one, behind the new first dimension.
Tree stack_lazy_stacks(const Rows& rows, Path& path) {
  const LazyStack& first = *rows.front()->lazy_stack();
  LazyStack result{first.stack_dim + 1, {}};
  for (std::size_t i = 0; i < first.members.size(); ++i) {
    Rows members;
    for (const Tree* row : rows) {
      const LazyStack& stack = *row->lazy_stack();
      if (stack.stack_dim != first.stack_dim) refuse_rows(path, "stack_dim");
      if (stack.members.size() != first.members.size()) refuse_rows(path, "number of members");
      members.push_back(&stack.members[i]);
    }
    path.push_back(std::to_string(i));
    result.members.push_back(stack_rows(members, path));
    path.pop_back();
  }
  return {result};
}

const Tree& child(const Dict& dict, const std::string& key, const Path& path) {
  const auto found = std::ranges::find(dict.entries, key, &Entry::key);
  if (found == dict.entries.end()) refuse_rows(path, "keys");
  return found->value;
}

Tree stack_dicts(const Rows& rows, Path& path) {
  const Dict& first = *rows.front()->dict();
  Dict result;
  if (first.kind == "tensorclass") {
    result.kind = first.kind;
    result.class_name = first.class_name;
  }
  result.batch_size = with_first_dimension(rows.size(), first.batch_size);
  result.device = first.device;
  for (const Tree* row : rows) {
    if (row->dict()->class_name != first.class_name) refuse_rows(path, "class");
    if (row->dict()->batch_size != first.batch_size) refuse_rows(path, "batch_size");
    if (row->dict()->entries.size() != first.entries.size()) refuse_rows(path, "keys");
  }
  for (const Entry& entry : first.entries) {
    path.push_back(entry.key);
    Rows children;
    for (const Tree* row : rows) children.push_back(&child(*row->dict(), entry.key, path));
    result.entries.push_back({entry.key, stack_rows(children, path)});
    path.pop_back();
  }
  return {result};
}

Tree stack_rows(const Rows& rows, Path& path) {
  for (const Tree* row : rows) {
    if (row->node.index() != rows.front()->node.index()) refuse_rows(path, "kind");
  }
  if (rows.front()->tensor() != nullptr) return stack_tensors(rows, path);
  const auto is_data = [](const Tree* row) { return non_tensor_data(*row).has_value(); };
  if (std::ranges::all_of(rows, is_data)) return stack_non_tensors(rows);
  if (rows.front()->lazy_stack() != nullptr) return stack_lazy_stacks(rows, path);
  return stack_dicts(rows, path);
}

}  // namespace

Tree stacked(const std::vector<TreePtr>& rows) {
  if (rows.empty()) throw std::invalid_argument("cannot stack: there are no rows");
  Rows pointers;
  for (const TreePtr& row : rows) pointers.push_back(row.get());
  Path path;
  return stack_rows(pointers, path);
}

}  // namespace tdconf
