// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/tree.h"

#include <algorithm>

#include "values/fill_json.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

void visit_tensors(const Tree& tree,
                   Path& path,
                   const std::function<void(const Path&, const TensorLeaf&)>& visit) {
  const auto descend = [&](const std::string& component, const Tree& child) {
    path.push_back(component);
    visit_tensors(child, path, visit);
    path.pop_back();
  };
  if (const TensorLeaf* leaf = tree.tensor()) {
    visit(path, *leaf);
  } else if (const LazyStack* stack = tree.lazy_stack()) {
    for (std::size_t i = 0; i < stack->members.size(); ++i) {
      descend(std::to_string(i), stack->members[i]);
    }
  } else if (const Dict* dict = tree.dict()) {
    for (const Entry& entry : dict->entries) descend(entry.key, entry.value);
  }
}

void replace_tensors(Tree& tree,
                     Path& path,
                     const std::function<TensorLeaf(const Path&, const TensorLeaf&)>& replace) {
  const auto descend = [&](const std::string& component, Tree& child) {
    path.push_back(component);
    replace_tensors(child, path, replace);
    path.pop_back();
  };
  if (auto* leaf = std::get_if<TensorLeaf>(&tree.node)) {
    *leaf = replace(path, *leaf);
  } else if (auto* stack = std::get_if<LazyStack>(&tree.node)) {
    for (std::size_t i = 0; i < stack->members.size(); ++i) {
      descend(std::to_string(i), stack->members[i]);
    }
  } else if (auto* dict = std::get_if<Dict>(&tree.node)) {
    for (Entry& entry : dict->entries) descend(entry.key, entry.value);
  }
}

Tree poisoned_leaf(const TensorLeaf& leaf) {
  TensorLeaf poison = leaf;
  poison.form = "plain";
  for (TensorPart& part : poison.parts) part.fill.invert = !part.fill.invert;
  return {poison};
}

}  // namespace

std::size_t TensorLeaf::size_bytes() const {
  return static_cast<std::size_t>(count_elements(shape)) * dtype->size_bytes;
}

Bytes TensorLeaf::bytes() const {
  Bytes bytes;
  for (const TensorPart& part : parts) {
    const Bytes more = fill_bytes(part.fill, *dtype, part.numel);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

Fill TensorLeaf::fill() const {
  if (parts.size() == 1) return parts.front().fill;
  return fill_with(bytes());
}

void for_each_tensor(const Tree& tree,
                     const std::function<void(const Path&, const TensorLeaf&)>& visit) {
  Path path;
  visit_tensors(tree, path, visit);
}

const TensorLeaf* find_tensor(const Tree& tree, const Path& path) {
  const TensorLeaf* found = nullptr;
  for_each_tensor(tree, [&](const Path& at, const TensorLeaf& leaf) {
    if (at == path) found = &leaf;
  });
  return found;
}

Tree with_tensors(const Tree& tree,
                  const std::function<TensorLeaf(const Path&, const TensorLeaf&)>& replace) {
  Tree result = tree;
  Path path;
  replace_tensors(result, path, replace);
  return result;
}

Tree poisoned(const Tree& tree) {
  if (const TensorLeaf* leaf = tree.tensor()) return poisoned_leaf(*leaf);
  if (const NonTensor* data = tree.non_tensor()) return {NonTensor{"poison", data->batch_size}};
  if (const LazyStack* stack = tree.lazy_stack()) {
    LazyStack poison{stack->stack_dim, {}};
    for (const Tree& member : stack->members) poison.members.push_back(poisoned(member));
    return {poison};
  }
  Dict poison = *tree.dict();
  if (poison.kind == "persistent") poison.kind = "tensordict";
  poison.consolidated = false;
  poison.locked = false;
  for (Entry& entry : poison.entries) entry.value = poisoned(entry.value);
  return {poison};
}

std::optional<NonTensor> non_tensor_data(const Tree& tree) {
  if (const NonTensor* data = tree.non_tensor()) return *data;
  const LazyStack* stack = tree.lazy_stack();
  if (stack == nullptr || stack->stack_dim != 0) return std::nullopt;
  NonTensor rows{json::array(), {static_cast<std::int64_t>(stack->members.size())}};
  for (const Tree& member : stack->members) {
    const std::optional<NonTensor> row = non_tensor_data(member);
    if (!row) return std::nullopt;
    rows.data.push_back(row->data);
  }
  return rows;
}

Tree with_entries_reversed(const Tree& tree) {
  Tree result = tree;
  if (auto* stack = std::get_if<LazyStack>(&result.node)) {
    for (Tree& member : stack->members) member = with_entries_reversed(member);
  } else if (auto* dict = std::get_if<Dict>(&result.node)) {
    std::ranges::reverse(dict->entries);
    for (Entry& entry : dict->entries) entry.value = with_entries_reversed(entry.value);
  }
  return result;
}

json tensor_to_json(const TensorLeaf& leaf) {
  return {{"kind", "tensor"},
          {"dtype", leaf.dtype->name},
          {"shape", leaf.shape},
          {"fill", fill_to_json(leaf.fill())},
          {"form", leaf.form}};
}

json tree_to_json(const Tree& tree) {
  if (const TensorLeaf* leaf = tree.tensor()) return tensor_to_json(*leaf);
  if (const NonTensor* data = tree.non_tensor()) {
    return {{"kind", "non_tensor"}, {"data", data->data}, {"batch_size", data->batch_size}};
  }
  if (const LazyStack* stack = tree.lazy_stack()) {
    json members = json::array();
    for (const Tree& member : stack->members) members.push_back(tree_to_json(member));
    return {{"kind", "lazy_stack"}, {"stack_dim", stack->stack_dim}, {"members", members}};
  }
  const Dict& dict = *tree.dict();
  json entries = json::array();
  for (const Entry& entry : dict.entries) {
    entries.push_back(json::array({entry.key, tree_to_json(entry.value)}));
  }
  if (dict.kind == "persistent") {
    return {{"kind", dict.kind}, {"batch_size", dict.batch_size}, {"entries", entries}};
  }
  json described = {{"kind", dict.kind},
                    {"batch_size", dict.batch_size},
                    {"names", dict.names},
                    {"device", dict.device ? json(*dict.device) : json(nullptr)},
                    {"entries", entries},
                    {"consolidated", dict.consolidated},
                    {"locked", dict.locked}};
  if (dict.kind == "tensorclass") described["class"] = dict.class_name;
  return described;
}

int nesting(const json& value) {
  if (!value.is_structured()) return 0;
  int deepest = 0;
  for (const json& member : value) deepest = std::max(deepest, nesting(member));
  return deepest + 1;
}

std::string dotted(const Path& path) {
  return join(path, ".");
}

}  // namespace tdconf
