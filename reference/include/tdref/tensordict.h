// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tdref {

using Shape = std::vector<std::int64_t>;
using KeyPath = std::vector<std::string>;
using DimNames = std::vector<std::optional<std::string>>;

/// Writes a key path as Python writes a nested key: "a" or "('a', 'b')".
std::string to_string(const KeyPath& path);

/// Holds a tensor entry. torch.nn.Parameter has no C++ type, so being one is an attribute of the
/// entry.
struct Leaf {
  at::Tensor tensor;
  bool is_parameter = false;
};

/// Holds a non-tensor entry: one datum for the whole batch (NonTensorData) or a list of them
/// (NonTensorStack).
struct NonTensor {
  Value data;
  /// Whether `data` is a list that has one datum for each row of the first batch dimension.
  bool stacked = false;

  bool operator==(const NonTensor&) const = default;
};

class Entry;
struct Item;

/// Holds the one block of memory that all leaves of a consolidated tensordict are views into.
struct Consolidated {
  /// uint8[total bytes].
  at::Tensor storage;
  /// Whether the tensordict was locked before; consolidating locks it.
  bool was_locked = false;
};

/// Maps keys, in insertion order, to tensors, nested tensordicts and non-tensor data that share
/// leading batch dimensions.
///
/// A copy has its own keys and shares the memory of the tensors, as copies of at::Tensor do.
///
/// Shapes  every tensor and every nested batch size begins with `batch_size()`.
/// Errors  c10::Error: a shape that does not begin with the batch size, a change of a locked
///         tensordict. KeyError: a key that is not there. c10::ValueError: an empty path, names of
///         another length.
class TensorDict {
 public:
  explicit TensorDict(Shape batch_size = {}, std::optional<at::Device> device = std::nullopt);

  const Shape& batch_size() const { return batch_size_; }
  const std::optional<at::Device>& device() const { return device_; }

  /// Returns the names of the batch dimensions: empty if none was ever given.
  const DimNames& names() const { return names_; }
  void set_names(DimNames names);

  /// Inserts at the end, or replaces the value and keeps the place; a new tensor replaces, it is
  /// not copied into.
  void set(const std::string& key, at::Tensor tensor);
  void set(const std::string& key, Leaf leaf);
  void set(const std::string& key, TensorDict nested);
  void set(const std::string& key, NonTensor data);
  void set(const std::string& key, Entry entry);

  bool contains(const std::string& key) const { return index_.count(key) != 0; }
  const Entry* find(const std::string& key) const;
  const Entry& get(const std::string& key) const;
  const Entry& get(const KeyPath& path) const;
  /// Gives the nested tensordict under a key for changes.
  ///
  /// Errors  c10::TypeError: the entry is another one.
  TensorDict& edit_nested(const std::string& key);
  void erase(const std::string& key);

  /// Writes `source` into the tensors of this one. Keys that only this one has are kept, keys that
  /// only `source` has are added, non-tensor data is replaced, elements are converted to the dtype
  /// they are written into.
  ///
  /// Errors  c10::Error, and nothing is written: a batch dimension that both have and that
  ///         differs, an entry of another kind or shape, a tensor whose elements share memory, a key
  ///         to add to a locked tensordict.
  /// Source  tensordict 0.15.3 TensorDictBase.update(inplace=True)
  void update_in_place(const TensorDict& source);

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

  /// Lists the items in insertion order.
  const std::vector<Item>& items() const { return items_; }
  std::vector<std::string> keys() const;

  /// Lists the items by key in code-point order, which for UTF-8 is the order of the bytes. The
  /// pointers last until the next change.
  std::vector<const Item*> sorted_items() const;

  bool is_locked() const { return locked_; }
  /// Forbids adding, replacing and removing entries, here and below; elements of tensors may still
  /// be written.
  void lock();
  /// Also drops the consolidated state, since entries may then leave the storage.
  void unlock();

  bool is_consolidated() const { return consolidated_.has_value(); }
  /// Errors  AttributeError: the tensordict is not consolidated.
  const Consolidated& consolidated() const;
  /// Declares the leaves to be views into `state.storage`, and locks. Only consolidate() and
  /// rebuild() call it.
  void set_consolidated(Consolidated state);

 private:
  void check_unlocked(const std::string& key) const;
  void write(const TensorDict& source);
  Entry* find(const std::string& key);

  Shape batch_size_;
  std::optional<at::Device> device_;
  DimNames names_;
  bool locked_ = false;
  std::optional<Consolidated> consolidated_;
  std::vector<Item> items_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Holds what one key maps to.
class Entry {
 public:
  Entry(at::Tensor tensor) : data_(Leaf{std::move(tensor)}) {}
  Entry(Leaf leaf) : data_(std::move(leaf)) {}
  Entry(NonTensor data) : data_(std::move(data)) {}
  Entry(TensorDict nested) : data_(std::move(nested)) {}

  const Leaf* leaf() const { return std::get_if<Leaf>(&data_); }
  Leaf* leaf() { return std::get_if<Leaf>(&data_); }
  const NonTensor* non_tensor() const { return std::get_if<NonTensor>(&data_); }
  NonTensor* non_tensor() { return std::get_if<NonTensor>(&data_); }
  const TensorDict* nested() const { return std::get_if<TensorDict>(&data_); }
  TensorDict* nested() { return std::get_if<TensorDict>(&data_); }

  /// Returns the tensor.
  ///
  /// Errors  c10::TypeError: the entry is not a tensor.
  const at::Tensor& tensor() const;

 private:
  std::variant<Leaf, NonTensor, TensorDict> data_;
};

struct Item {
  std::string key;
  Entry value;
};

}  // namespace tdref
