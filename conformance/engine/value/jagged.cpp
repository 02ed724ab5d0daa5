// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/jagged.h"

#include <cstring>

namespace tdconf {
namespace {

TensorLeaf offsets_of(const TensorLeaf& jagged) {
  const std::vector<std::int64_t> offsets = jagged_offsets(jagged.shape);
  Bytes bytes(offsets.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), offsets.data(), bytes.size());
  const auto count = static_cast<std::int64_t>(offsets.size());
  return {&dtype_named("int64"), {count}, {{fill_with(bytes), count}}};
}

}  // namespace

std::vector<std::int64_t> jagged_offsets(const Shape& shape) {
  const std::int64_t rows = shape[0];
  std::vector<std::int64_t> offsets;
  for (std::int64_t row = 0; row <= rows; ++row) {
    offsets.push_back(shape[1] * row * (row + 1) / (rows + 1));
  }
  return offsets;
}

TensorLeaf jagged_values(const TensorLeaf& jagged) {
  TensorLeaf values = jagged;
  values.form = "plain";
  values.shape.erase(values.shape.begin());
  values.shape[0] *= jagged.shape[0];
  return values;
}

Tree with_jagged_parts(const Tree& tree) {
  Tree result = tree;
  if (const TensorLeaf* leaf = tree.tensor(); leaf != nullptr && leaf->form == "jagged") {
    Dict parts;
    parts.entries = {{"values", {jagged_values(*leaf)}}, {"offsets", {offsets_of(*leaf)}}};
    return {parts};
  }
  if (auto* stack = std::get_if<LazyStack>(&result.node)) {
    for (Tree& member : stack->members) member = with_jagged_parts(member);
  } else if (auto* dict = std::get_if<Dict>(&result.node)) {
    for (Entry& entry : dict->entries) entry.value = with_jagged_parts(entry.value);
  }
  return result;
}

}  // namespace tdconf
