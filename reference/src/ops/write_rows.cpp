// SPDX-License-Identifier: BSD-3-Clause
#include "ops/write_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "codec/elements.h"
#include "codec/observer.h"

namespace tdref {
namespace {

using Rows = std::vector<const TensorDict*>;

bool is_plain(const at::Tensor& tensor) {
  return tensor.is_cpu() && !tensor.is_quantized() && lies_as_it_travels(tensor);
}

// Whether `whole` begins with the number of rows, and goes on with the shape of each.
bool holds(c10::IntArrayRef whole, std::size_t rows, c10::IntArrayRef row) {
  return !whole.empty() && whole[0] == static_cast<std::int64_t>(rows) && whole.slice(1) == row;
}

/// Finds for each tensor of a plain tensordict those of the rows that belong into it.
class PlainRows {
 public:
  struct Leaf {
    at::Tensor target;
    std::vector<at::Tensor> rows;
  };

  bool find(const TensorDict& target, const Rows& rows) {
    for (const TensorDict* row : rows) {
      if (row->size() != rows.front()->size() ||
          !holds(target.batch_size(), rows.size(), row->batch_size())) {
        return false;
      }
    }
    for (const auto& [key, first] : rows.front()->items()) {
      const Entry* place = target.find(key);
      if (place == nullptr || !find_under(key, *place, rows)) {
        return false;
      }
    }
    return true;
  }

  const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  bool find_under(const std::string& key, const Entry& place, const Rows& rows) {
    if (place.leaf() != nullptr) {
      return find_leaf(key, place.tensor(), rows);
    }
    const auto* nested = place.nested() == nullptr ? nullptr : place.nested()->as<TensorDict>();
    if (nested == nullptr) {
      return false;
    }
    Rows nested_rows;
    for (const TensorDict* row : rows) {
      const Entry* entry = row->find(key);
      const bool is_nested = entry != nullptr && entry->nested() != nullptr;
      const auto* below = is_nested ? entry->nested()->as<TensorDict>() : nullptr;
      if (below == nullptr) {
        return false;
      }
      nested_rows.push_back(below);
    }
    return find(*nested, nested_rows);
  }

  bool find_leaf(const std::string& key, const at::Tensor& target, const Rows& rows) {
    if (!is_plain(target)) {
      return false;
    }
    Leaf leaf{target, {}};
    for (const TensorDict* row : rows) {
      const Entry* entry = row->find(key);
      if (entry == nullptr || entry->leaf() == nullptr) {
        return false;
      }
      const at::Tensor& tensor = entry->tensor();
      if (!is_plain(tensor) || tensor.scalar_type() != target.scalar_type() ||
          !holds(target.sizes(), rows.size(), tensor.sizes())) {
        return false;
      }
      leaf.rows.push_back(tensor);
    }
    leaves_.push_back(std::move(leaf));
    return true;
  }

  std::vector<Leaf> leaves_;
};

void write(const PlainRows::Leaf& leaf) {
  auto* place = static_cast<std::byte*>(leaf.target.mutable_data_ptr());
  for (const auto& row : leaf.rows) {
    if (const auto nbytes = row.nbytes(); nbytes > 0) {
      std::memcpy(place, row.const_data_ptr(), nbytes);
      note_copied(nbytes);
      place += nbytes;
    }
  }
  leaf.target.unsafeGetTensorImpl()->bump_version();
}

}  // namespace

bool write_plain_rows(TensorDictBase& target, const std::vector<AnyTensorDict>& rows) {
  Rows plain;
  for (const auto& row : rows) {
    plain.push_back(row->as<TensorDict>());
  }
  const bool all_plain = std::none_of(plain.begin(), plain.end(), [](auto* td) { return !td; });
  const auto* contents = target.as<TensorDict>();
  PlainRows found;
  if (plain.empty() || !all_plain || contents == nullptr || !found.find(*contents, plain)) {
    return false;
  }
  for (const auto& leaf : found.leaves()) {
    write(leaf);
  }
  return true;
}

}  // namespace tdref
