// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/errors.h>
#include <tdref/tensordict.h>

#include <algorithm>

#include "tree/jagged.h"
#include "tree/non_tensor.h"
#include "tree/visit.h"

namespace tdref {
namespace {

void check_batch(const std::string& key, c10::IntArrayRef shape, const Shape& batch_size) {
  const bool begins_with_batch = shape.size() >= batch_size.size() &&
                                 std::equal(batch_size.begin(), batch_size.end(), shape.begin());
  TORCH_CHECK(begins_with_batch,
              "the value under '",
              key,
              "' has shape ",
              shape,
              ", but every shape in this tensordict begins with its batch size ",
              c10::IntArrayRef(batch_size));
}

// A datum that stands for the rows of a batch must have as many rows.
void check_batch(const std::string& key, const NonTensor& value, const Shape& batch_size) {
  if (!value.stacked) {
    return;
  }
  const auto rows = rows_of(value);
  TORCH_CHECK(
      rows.size() <= batch_size.size() && std::equal(rows.begin(), rows.end(), batch_size.begin()),
      "the stack of non-tensor data under '",
      key,
      "' has ",
      c10::IntArrayRef(rows),
      " rows; allowed is a list with one item for each row of the batch size ",
      c10::IntArrayRef(batch_size));
}

}  // namespace

TensorDict::TensorDict(Shape batch_size, std::optional<at::Device> device)
    : TensorDictBase(std::move(batch_size), device) {}

void TensorDict::set_names(DimNames names) {
  TORCH_CHECK_VALUE(names.empty() || names.size() == batch_size().size(),
                    "got ",
                    names.size(),
                    " names for the ",
                    batch_size().size(),
                    " batch dimensions");
  names_ = std::move(names);
}

void TensorDict::check_unlocked(const std::string& key) const {
  TORCH_CHECK(!is_locked(),
              "Cannot modify locked TensorDict: the entry '",
              key,
              "' can only be written into in place. Unlock it first.");
}

void TensorDict::set(const std::string& key, Entry entry) {
  check_unlocked(key);
  if (auto* leaf = entry.leaf()) {
    TORCH_CHECK_TYPE(leaf->tensor.defined(), "the tensor for '", key, "' is undefined");
    check_batch(key, leaf->tensor.sizes(), batch_size());
    if (device().has_value() && leaf->tensor.device() != *device()) {
      leaf->tensor = leaf->tensor.to(*device());
    }
  } else if (const auto* jagged = entry.jagged()) {
    check_form("the jagged tensor for '" + key + "'", *jagged);
    check_batch(key, c10::IntArrayRef(jagged->rows()), batch_size());
  } else if (const auto* nested = entry.nested()) {
    check_batch(key, nested->batch_size(), batch_size());
  } else {
    check_batch(key, *entry.non_tensor(), batch_size());
  }
  if (const auto place = index_.find(key); place != index_.end()) {
    items_[place->second].value = std::move(entry);
    return;
  }
  index_.emplace(key, items_.size());
  items_.push_back({key, std::move(entry)});
}

const Entry* TensorDict::find(const std::string& key) const {
  const auto place = index_.find(key);
  return place == index_.end() ? nullptr : &items_[place->second].value;
}

Entry* TensorDict::find(const std::string& key) {
  const auto place = index_.find(key);
  return place == index_.end() ? nullptr : &items_[place->second].value;
}

const Entry& TensorDict::get(const std::string& key) const {
  const auto* entry = find(key);
  TDREF_CHECK_WITH(KeyError, entry != nullptr, "key '", key, "' is not in the tensordict");
  return *entry;
}

const Entry& TensorDict::get(const KeyPath& path) const {
  TORCH_CHECK_VALUE(!path.empty(), "a key path names at least one key");
  const Entry* entry = &get(path.front());
  for (auto key = path.begin() + 1; key != path.end(); ++key) {
    const auto* nested = entry->nested() == nullptr ? nullptr : items_of(*entry->nested());
    TDREF_CHECK_WITH(KeyError,
                     nested != nullptr && nested->contains(*key),
                     "key ",
                     to_string(path),
                     " is not in the tensordict");
    entry = nested->find(*key);
  }
  return *entry;
}

TensorDict& TensorDict::edit_nested(const std::string& key) {
  check_unlocked(key);
  get(key);
  auto* nested = find(key)->nested();
  auto* td = nested == nullptr ? nullptr : items_of(*nested);
  TORCH_CHECK_TYPE(
      td != nullptr, "the entry '", key, "' is neither a TensorDict nor a tensorclass");
  return *td;
}

void TensorDict::erase(const std::string& key) {
  check_unlocked(key);
  const auto place = index_.find(key);
  TDREF_CHECK_WITH(KeyError, place != index_.end(), "key '", key, "' is not in the tensordict");
  const auto position = place->second;
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
  index_.erase(place);
  for (auto& [_, later] : index_) {
    later -= later > position ? 1 : 0;
  }
}

std::vector<std::string> TensorDict::keys() const {
  std::vector<std::string> keys;
  keys.reserve(items_.size());
  for (const auto& item : items_) {
    keys.push_back(item.key);
  }
  return keys;
}

std::vector<const Item*> TensorDict::sorted_items() const {
  std::vector<const Item*> sorted;
  sorted.reserve(items_.size());
  for (const auto& item : items_) {
    sorted.push_back(&item);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Item* a, const Item* b) {
    return a->key < b->key;  // char_traits<char> compares as unsigned bytes
  });
  return sorted;
}

void TensorDict::lock() {
  set_locked(true);
  for (auto& item : items_) {
    if (auto* nested = item.value.nested()) {
      nested->lock();
    }
  }
}

void TensorDict::unlock() {
  set_locked(false);
  for (auto& item : items_) {
    if (auto* nested = item.value.nested()) {
      nested->unlock();
    }
  }
}

AnyTensorDict::AnyTensorDict(const TensorDictBase& td) : data_(copy_of(td)) {}

AnyTensorDict::Data AnyTensorDict::copy_of(const TensorDictBase& td) {
  return visit_kind(td, [](const auto& of_its_kind) { return Data(of_its_kind); });
}

const TensorDictBase& AnyTensorDict::operator*() const {
  return std::visit([](const auto& td) -> const TensorDictBase& { return td; }, data_);
}

TensorDictBase& AnyTensorDict::operator*() {
  return std::visit([](auto& td) -> TensorDictBase& { return td; }, data_);
}

const TensorDictBase* Entry::nested() const {
  const auto* td = std::get_if<Boxed<AnyTensorDict>>(&data_);
  return td == nullptr ? nullptr : &***td;
}

TensorDictBase* Entry::nested() {
  auto* td = std::get_if<Boxed<AnyTensorDict>>(&data_);
  return td == nullptr ? nullptr : &***td;
}

const at::Tensor& Entry::tensor() const {
  const auto* data = leaf();
  TORCH_CHECK_TYPE(data != nullptr, "the entry is not a tensor");
  return data->tensor;
}

}  // namespace tdref
