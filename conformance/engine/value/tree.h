// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "values/fill.h"

namespace tdconf {

using Shape = std::vector<std::int64_t>;
using Path = std::vector<std::string>;

/// Some elements of a tensor, in row-major order.
struct TensorPart {
  Fill fill;
  std::int64_t numel = 0;
};

/// A tensor whose elements are known from formulas. A stacked tensor has one part for each row.
struct TensorLeaf {
  const DType* dtype = nullptr;
  Shape shape;
  std::vector<TensorPart> parts;
  std::string form = "plain";

  std::size_t size_bytes() const;
  Bytes bytes() const;
  /// The fill that gives the same bytes in one formula.
  Fill fill() const;
};

struct NonTensor {
  nlohmann::json data;
  Shape batch_size;
};

struct Tree;

struct LazyStack {
  std::int64_t stack_dim = 0;
  std::vector<Tree> members;
};

struct Entry;

/// A tensordict; the order of the entries is the order in which they were inserted.
struct Dict {
  std::string kind = "tensordict";
  /// Of a tensorclass, whose entries are its fields.
  std::string class_name = {};
  Shape batch_size;
  nlohmann::json names;
  std::optional<std::string> device;
  std::vector<Entry> entries;
  bool consolidated = false;
  bool locked = false;
};

/// A value as a case describes it: what an adapter is told to make, and what must arrive.
struct Tree {
  std::variant<TensorLeaf, NonTensor, LazyStack, Dict> node;

  const TensorLeaf* tensor() const { return std::get_if<TensorLeaf>(&node); }
  const NonTensor* non_tensor() const { return std::get_if<NonTensor>(&node); }
  const LazyStack* lazy_stack() const { return std::get_if<LazyStack>(&node); }
  const Dict* dict() const { return std::get_if<Dict>(&node); }
};

struct Entry {
  std::string key;
  Tree value;
};

using TreePtr = std::shared_ptr<const Tree>;

/// Calls `visit` for each tensor in insertion order, depth first. In a path, the members of a lazy
/// stack are numbered from 0.
void for_each_tensor(const Tree& tree,
                     const std::function<void(const Path&, const TensorLeaf&)>& visit);

/// Returns the tensor at `path`, or null.
const TensorLeaf* find_tensor(const Tree& tree, const Path& path);

/// Returns the tree with each tensor replaced, in the order of for_each_tensor().
Tree with_tensors(const Tree& tree,
                  const std::function<TensorLeaf(const Path&, const TensorLeaf&)>& replace);

/// Returns what a receiver holds before anything arrives: the same structure with every byte
/// complemented, plain tensors in plain tensordicts, "poison" as non-tensor data. Lazy stacks and
/// tensorclasses are structure, and stay.
Tree poisoned(const Tree& tree);

/// Returns the tree with its entries inserted in reverse, at each level.
Tree with_entries_reversed(const Tree& tree);

/// Returns non-tensor data as one value: itself, or of a stack of nothing else along dimension 0,
/// which an implementation may hold as one list, the list of its members. Nothing for other trees.
std::optional<NonTensor> non_tensor_data(const Tree& tree);

/// Stacks trees of one structure along a new first dimension.
///
/// Errors  std::invalid_argument: no rows, or rows that differ in keys, shapes, dtypes or classes.
Tree stacked(const std::vector<TreePtr>& rows);

/// Writes a TREE of the protocol.
nlohmann::json tree_to_json(const Tree& tree);
nlohmann::json tensor_to_json(const TensorLeaf& leaf);

/// Counts how many arrays and objects lie in one another, at the deepest place.
int nesting(const nlohmann::json& value);

/// Writes a path as `key.path`.
std::string dotted(const Path& path);

}  // namespace tdconf
