// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/flat_hash_map.h>
#include <tdref/boxed.h>
#include <tdref/lazy_stack.h>
#include <tdref/leaf.h>
#include <tdref/persistent.h>
#include <tdref/tensordict_base.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tdref {

class Entry;
struct Item;

/// Maps keys, in insertion order, to tensors, nested tensordicts and non-tensor data that share
/// leading batch dimensions.
///
/// A copy has its own keys and shares the memory of the tensors, as copies of at::Tensor do.
///
/// Shapes  every tensor and every nested batch size begins with `batch_size()`.
/// Errors  c10::Error: a shape that does not begin with the batch size, a change of a locked
///         tensordict. KeyError: a key that is not there. c10::ValueError: an empty path, names of
///         another length, parts of a jagged tensor that do not go together.
class TensorDict final : public TensorDictBase {
 public:
  explicit TensorDict(Shape batch_size = {}, std::optional<at::Device> device = std::nullopt);

  // Defined below Item, whose size a vector of them needs.
  TensorDict(const TensorDict& other);
  TensorDict(TensorDict&& other) noexcept;
  TensorDict& operator=(const TensorDict& other);
  TensorDict& operator=(TensorDict&& other) noexcept;
  ~TensorDict();

  /// Returns the names of the batch dimensions: empty if none was ever given.
  const DimNames& names() const { return names_; }
  void set_names(DimNames names);

  /// Inserts at the end, or replaces the value and keeps the place; a new tensor replaces, it is
  /// not copied into.
  void set(const std::string& key, Entry entry);

  bool contains(const std::string& key) const { return index_.count(key) != 0; }
  const Entry* find(const std::string& key) const;
  const Entry& get(const std::string& key) const;
  const Entry& get(const KeyPath& path) const;
  /// Gives the nested TensorDict under a key for changes, or the contents of a tensorclass.
  ///
  /// Errors  c10::TypeError: the entry is another one.
  TensorDict& edit_nested(const std::string& key);
  void erase(const std::string& key);

  std::size_t size() const;
  bool empty() const;

  /// Lists the items in insertion order.
  const std::vector<Item>& items() const { return items_; }
  std::vector<std::string> keys() const;

  /// Lists the items by key in code-point order, which for UTF-8 is the order of the bytes. The
  /// pointers last until the next change.
  std::vector<const Item*> sorted_items() const;

  void lock() override;
  void unlock() override;

 private:
  friend class InPlaceUpdate;  // changes entries of a locked tensordict too

  void check_unlocked(const std::string& key) const;
  Entry* find(const std::string& key);

  DimNames names_;
  std::vector<Item> items_;
  ska::flat_hash_map<std::string, std::size_t> index_;
};

/// Holds the fields of a tensorclass as the entries of a TensorDict, beside the name of its class,
/// which only Python has. Operations treat it as they treat its contents, and what they make of it,
/// of its rows or of its copies has the class too.
///
/// A copy shares the memory of the tensors, as a copy of its contents does. Batch size, device, lock
/// and consolidated storage are those of the contents, whichever of the two is asked or changed.
///
/// Source  tensordict 0.15.3 tensorclass
class TensorClass final : public TensorDictBase {
 public:
  TensorClass(PythonClass cls, TensorDict contents);

  const PythonClass& cls() const { return cls_; }
  const TensorDict& contents() const { return contents_; }
  /// Gives the fields for changes.
  TensorDict& edit_contents() { return contents_; }

  /// Returns one of the same class with other contents.
  TensorClass with(TensorDict contents) const { return {cls_, std::move(contents)}; }

  void lock() override { contents_.lock(); }
  void unlock() override { contents_.unlock(); }

 private:
  const TensorDictBase& owner() const override { return contents_; }
  TensorDictBase& owner() override { return contents_; }

  PythonClass cls_;
  TensorDict contents_;
};

/// Holds a tensordict of any kind by value.
class AnyTensorDict {
 public:
  AnyTensorDict(TensorDict td) : data_(std::move(td)) {}
  AnyTensorDict(LazyStackedTensorDict td) : data_(std::move(td)) {}
  AnyTensorDict(PersistentTensorDict td) : data_(std::move(td)) {}
  AnyTensorDict(TensorClass td) : data_(std::move(td)) {}
  /// Copies a tensordict of any kind.
  explicit AnyTensorDict(const TensorDictBase& td);

  const TensorDictBase& operator*() const;
  TensorDictBase& operator*();
  const TensorDictBase* operator->() const { return &**this; }
  TensorDictBase* operator->() { return &**this; }

 private:
  using Data = std::variant<TensorDict, LazyStackedTensorDict, PersistentTensorDict, TensorClass>;
  static Data copy_of(const TensorDictBase& td);

  Data data_;
};

/// Holds what one key maps to.
class Entry {
 public:
  Entry(at::Tensor tensor) : data_(Leaf{std::move(tensor)}) {}
  Entry(Leaf leaf) : data_(std::move(leaf)) {}
  Entry(Jagged jagged) : data_(std::move(jagged)) {}
  Entry(NonTensor data) : data_(std::move(data)) {}
  Entry(TensorDict nested) : Entry(AnyTensorDict(std::move(nested))) {}
  Entry(LazyStackedTensorDict nested) : Entry(AnyTensorDict(std::move(nested))) {}
  Entry(PersistentTensorDict nested) : Entry(AnyTensorDict(std::move(nested))) {}
  Entry(TensorClass nested) : Entry(AnyTensorDict(std::move(nested))) {}
  Entry(AnyTensorDict nested) : data_(Boxed(std::move(nested))) {}

  const Leaf* leaf() const { return std::get_if<Leaf>(&data_); }
  Leaf* leaf() { return std::get_if<Leaf>(&data_); }
  const Jagged* jagged() const { return std::get_if<Jagged>(&data_); }
  const NonTensor* non_tensor() const { return std::get_if<NonTensor>(&data_); }
  NonTensor* non_tensor() { return std::get_if<NonTensor>(&data_); }
  /// Points at the nested tensordict, of any kind.
  const TensorDictBase* nested() const;
  TensorDictBase* nested();

  /// Returns the tensor.
  ///
  /// Errors  c10::TypeError: the entry is not a tensor.
  const at::Tensor& tensor() const;

 private:
  std::variant<Leaf, Jagged, NonTensor, Boxed<AnyTensorDict>> data_;
};

struct Item {
  std::string key;
  Entry value;
};

inline TensorDict::TensorDict(const TensorDict& other) = default;
inline TensorDict::TensorDict(TensorDict&& other) noexcept = default;
inline TensorDict& TensorDict::operator=(const TensorDict& other) = default;
inline TensorDict& TensorDict::operator=(TensorDict&& other) noexcept = default;
inline TensorDict::~TensorDict() = default;

inline std::size_t TensorDict::size() const {
  return items_.size();
}
inline bool TensorDict::empty() const {
  return items_.empty();
}

}  // namespace tdref
