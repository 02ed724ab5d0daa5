// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tdref {

using Shape = std::vector<std::int64_t>;
using KeyPath = std::vector<std::string>;
using DimNames = std::vector<std::optional<std::string>>;

/// Writes a key path as Python writes a nested key: "a" or "('a', 'b')".
std::string to_string(const KeyPath& path);

class DescribedOnce;

/// Holds the one block of memory that all leaves of a consolidated tensordict are views into.
struct Consolidated {
  /// uint8[total bytes].
  at::Tensor storage;
  /// Whether the tensordict was locked before; consolidating locks it.
  bool was_locked = false;
  /// What transfers say of the leaves, which a lock keeps where they are.
  std::shared_ptr<DescribedOnce> description = nullptr;
};

/// What TensorDict, LazyStackedTensorDict, PersistentTensorDict and TensorClass have in common.
/// Operations take a tensordict of any kind; AnyTensorDict holds one.
class TensorDictBase {
 public:
  const Shape& batch_size() const { return owner().batch_size_; }
  const std::optional<at::Device>& device() const { return owner().device_; }

  /// Points at this tensordict as one of the kinds, if it is of that kind.
  template <typename Kind>
  const Kind* as() const {
    return dynamic_cast<const Kind*>(this);
  }
  template <typename Kind>
  Kind* as() {
    return dynamic_cast<Kind*>(this);
  }

  /// Writes `source` into the tensors of this one. Keys that only this one has are kept, keys that
  /// only `source` has are added, non-tensor data is replaced, elements are converted to the dtype
  /// they are written into. Of a lazy stack each member is written. A tensorclass keeps its class,
  /// whatever that of `source`.
  ///
  /// Errors  c10::Error, and nothing is written: a batch dimension that both have and that
  ///         differs, an entry of another kind or shape, a tensor whose elements share memory, a
  ///         key to add to a locked tensordict, another number of members than `source` has rows, a
  ///         persistent tensordict, which is only read.
  /// Source  tensordict 0.15.3 TensorDictBase.update(inplace=True)
  void update_in_place(const TensorDictBase& source);

  bool is_locked() const { return owner().locked_; }
  /// Forbids adding, replacing and removing entries, here and below; elements of tensors may still
  /// be written.
  virtual void lock() = 0;
  /// Also drops the consolidated state, since entries may then leave the storage.
  virtual void unlock() = 0;

  bool is_consolidated() const { return owner().consolidated_.has_value(); }
  /// Errors  AttributeError: the tensordict is not consolidated.
  const Consolidated& consolidated() const;
  /// Declares the leaves to be views into `state.storage`, and locks. Only consolidate() and
  /// rebuild() call it.
  void set_consolidated(Consolidated state);

 protected:
  TensorDictBase() = default;
  TensorDictBase(Shape batch_size, std::optional<at::Device> device);
  TensorDictBase(const TensorDictBase&) = default;
  TensorDictBase(TensorDictBase&&) = default;
  TensorDictBase& operator=(const TensorDictBase&) = default;
  TensorDictBase& operator=(TensorDictBase&&) = default;
  ~TensorDictBase() = default;

  void set_locked(bool locked);

 private:
  /// Holds what stands below. A tensorclass leaves its own empty, and has that of its contents.
  virtual const TensorDictBase& owner() const { return *this; }
  virtual TensorDictBase& owner() { return *this; }

  Shape batch_size_;
  std::optional<at::Device> device_;
  bool locked_ = false;
  std::optional<Consolidated> consolidated_;
};

}  // namespace tdref
