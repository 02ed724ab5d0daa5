// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <unordered_map>

#include "codec/pickle_object.h"
#include "codec/pickle_writer.h"

namespace tdref {

/// Makes the tensors that a pickle describes by calls of torch's rebuild functions, each once; they
/// share storages as in the pickle. A class that only Python has is noted by its name, and not
/// looked for.
///
/// Errors  c10::ValueError: another call, a tensor that does not lie within its storage, an unknown
///         dtype. c10::Error from libtorch: sizes, dtypes or sparse indices that do not go
///         together.
class TensorReader {
 public:
  explicit TensorReader(const PickledObjects& objects) : objects_(objects) {}

  Leaf read(ObjectId id, int depth = 0);

  /// Whether the object is a jagged nested tensor.
  bool is_jagged(ObjectId id) const;
  Jagged read_jagged(ObjectId id);

 private:
  using Arguments = std::vector<ObjectId>;

  Leaf rebuild(ObjectId id, int depth);
  Leaf call(const PickleObject::Global& function, ObjectId arguments, int depth);
  Leaf from_type(const Arguments& arguments, int depth);
  at::Tensor typed(const Arguments& arguments);
  at::Tensor typed_by_argument(const Arguments& arguments);
  at::Tensor strided(const Arguments& arguments, at::ScalarType dtype);
  at::Tensor sparse(const Arguments& arguments, int depth);
  at::Tensor meta(const Arguments& arguments);
  at::Tensor viewed(const Arguments& arguments, int depth);
  Leaf parameter(const Arguments& arguments, int depth);
  Leaf requiring_gradients(const Arguments& arguments, int depth);

  const at::Tensor& storage(ObjectId id);
  at::ScalarType dtype(ObjectId id) const;
  Shape sizes(ObjectId id) const;

  const PickledObjects& objects_;
  std::unordered_map<ObjectId, Leaf> leaves_;
  std::unordered_map<ObjectId, at::Tensor> storages_;
};

/// Reads torch.Size((...)), a tuple or a list of numbers, none negative.
Shape read_sizes(const PickledObjects& objects, ObjectId id);

/// Errors  c10::NotImplementedError: a leaf without a pickled form here (quantized, not on the CPU
///         or meta). A memory-mapped leaf is written as a plain tensor: its file has no name.
void write_leaf(PickleWriter& writer, const KeyPath& key, const Leaf& leaf);
void write_jagged(PickleWriter& writer, const Jagged& jagged);

void write_sizes(PickleWriter& writer, c10::IntArrayRef sizes);

/// Writes a tensor without history; `write_leaf` adds what an entry has.
void write_tensor(PickleWriter& writer, const at::Tensor& tensor);

}  // namespace tdref
