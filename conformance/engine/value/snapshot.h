// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/value/tree.h"

namespace tdconf {

/// Bytes as an adapter reports them: themselves, their digest, or neither when they cannot be read.
struct SeenBytes {
  std::optional<Bytes> bytes;
  std::optional<std::string> sha256;

  bool are_readable() const { return bytes.has_value() || sha256.has_value(); }
  /// True when these are exactly `expected`.
  bool equal(const Bytes& expected) const;
};

/// Where the rows of a jagged tensor lie among its values.
struct SeenRows {
  std::vector<std::int64_t> offsets;
  /// Of rows that do not end where the next one begins.
  std::optional<std::vector<std::int64_t>> lengths;
  std::int64_t ragged_idx = 0;
};

struct SeenTensor {
  std::string dtype;
  /// The size of a ragged dimension is -1.
  Shape shape;
  bool requires_grad = false;
  std::string class_name;
  std::string device;
  std::string layout;
  /// Equal tokens mean the same memory.
  std::string token;
  /// In row-major order: of a sparse tensor its zeros too, of a jagged one its values.
  SeenBytes elements;
  std::optional<SeenRows> rows;
};

struct SeenTree;

struct SeenStack {
  std::int64_t stack_dim = 0;
  bool locked = false;
  std::vector<SeenTree> members;
};

struct SeenEntry;

struct SeenDict {
  std::string kind;
  /// Of a tensorclass; of another kind it follows from the kind.
  std::string class_name;
  Shape batch_size;
  nlohmann::json names;
  nlohmann::json device;
  bool locked = false;
  std::vector<SeenEntry> entries;
};

struct SeenTree {
  std::variant<SeenTensor, NonTensor, SeenStack, SeenDict> node;

  const SeenTensor* tensor() const { return std::get_if<SeenTensor>(&node); }
  const NonTensor* non_tensor() const { return std::get_if<NonTensor>(&node); }
  const SeenStack* lazy_stack() const { return std::get_if<SeenStack>(&node); }
  const SeenDict* dict() const { return std::get_if<SeenDict>(&node); }
  /// Nothing of what cannot be locked.
  std::optional<bool> locked() const;
};

struct SeenEntry {
  std::string key;
  SeenTree value;
};

struct SeenStorage {
  std::string token;
  std::int64_t nbytes = 0;
  SeenBytes bytes;
};

/// What a rank holds under a name at one moment.
struct Snapshot {
  SeenTree root;
  std::optional<SeenStorage> consolidated;
};

/// Decodes a snapshot of the protocol.
///
/// Errors  ProtocolError: unknown or missing fields, a number of bytes that contradicts the shape,
///         rows that do not lie within the values.
Snapshot decode_snapshot(const nlohmann::json& json);

/// Decodes the snapshot of one tensor.
SeenTensor decode_tensor(const nlohmann::json& json);

/// Calls `visit` for the tree and all that is in it, depth first, in the order of the snapshot.
void for_each_node(const SeenTree& tree,
                   const std::function<void(const Path&, const SeenTree&)>& visit);

/// Calls `visit` for each tensor, in the same order.
void for_each_tensor(const SeenTree& tree,
                     const std::function<void(const Path&, const SeenTensor&)>& visit);

/// Returns the tensor whose path, written with dots, is `key`, or null.
const SeenTensor* find_tensor(const SeenTree& tree, const std::string& key);

}  // namespace tdconf
