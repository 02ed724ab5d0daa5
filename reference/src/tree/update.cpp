// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <tdref/tensordict.h>

#include <algorithm>

#include "tree/kinds.h"
#include "tree/select.h"
#include "tree/stack.h"
#include "tree/visit.h"

namespace tdref {
namespace {

void check_writable(const std::string& key, const at::Tensor& target, const at::Tensor& source) {
  TORCH_CHECK(target.sizes() == source.sizes(),
              "the value for '",
              key,
              "' has shape ",
              source.sizes(),
              " and does not fit the entry of shape ",
              target.sizes());
  for (const auto& tensor : {target, source}) {
    TORCH_CHECK(tensor.layout() == at::kStrided && !tensor.is_meta(),
                "the entry '",
                key,
                "' cannot be written element by element: layout ",
                tensor.layout(),
                ", device ",
                tensor.device());
  }
  TORCH_CHECK(at::has_internal_overlap(target) != at::MemOverlap::Yes,
              "the entry '",
              key,
              "' cannot be written: its elements share memory");
}

// The two may divide a leaf's dimensions differently between batch and element; where both have a
// batch dimension, it is the same. The shapes of the leaves decide the rest.
void check_batch_size(const TensorDictBase& target, const TensorDictBase& source) {
  const c10::IntArrayRef got = source.batch_size();
  const c10::IntArrayRef wanted = target.batch_size();
  const auto common = std::min(got.size(), wanted.size());
  TORCH_CHECK(got.slice(0, common) == wanted.slice(0, common),
              "a source with batch size ",
              got,
              " does not fit a destination with batch size ",
              wanted);
}

void check_jagged_fits(const std::string& key, const Jagged& target, const Jagged& source) {
  TORCH_CHECK(target.ragged_idx == source.ragged_idx &&
                  target.lengths.defined() == source.lengths.defined() &&
                  target.offsets.sizes() == source.offsets.sizes(),
              "the jagged tensor for '",
              key,
              "' has other rows than the entry");
  check_writable(key, target.values, source.values);
}

// The rows of `source` that go to the members of `target`.
std::vector<AnyTensorDict> rows_for(const LazyStackedTensorDict& target,
                                    const TensorDictBase& source) {
  check_batch_size(target, source);
  const auto dim = target.stack_dim();
  TORCH_CHECK(dim < static_cast<std::int64_t>(source.batch_size().size()),
              "a source with batch size ",
              c10::IntArrayRef(source.batch_size()),
              " has no rows for a lazy stack along dimension ",
              dim);
  std::vector<AnyTensorDict> rows;
  for (std::size_t i = 0; i < target.members().size(); ++i) {
    rows.push_back(select(source, dim, static_cast<std::int64_t>(i)));
  }
  return rows;
}

}  // namespace

/// The two passes of update_in_place(): nothing is written before everything is known to fit.
class InPlaceUpdate {
 public:
  static void check_fits(const TensorDictBase& target, const TensorDictBase& source) {
    visit_kind(target,
               Overloaded{[&](const TensorDict& plain) { check_items_fit(plain, source); },
                          [&](const TensorClass& tensorclass) {
                            check_items_fit(tensorclass.contents(), source);
                          },
                          [&](const LazyStackedTensorDict& stack) {
                            const auto rows = rows_for(stack, source);
                            for (std::size_t i = 0; i < rows.size(); ++i) {
                              check_fits(*stack.members()[i], *rows[i]);
                            }
                          },
                          [](const PersistentTensorDict& persistent) {
                            TORCH_CHECK(false,
                                        "the tensordict of the file ",
                                        persistent.place().filename,
                                        " is only read; it cannot be written into");
                          }});
  }

  static void write(TensorDictBase& target, const TensorDictBase& source) {
    if (auto* stack = target.as<LazyStackedTensorDict>()) {
      const auto rows = rows_for(*stack, source);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        write(*stack->edit_members()[i], *rows[i]);
      }
    } else if (const auto* items = items_of(source)) {
      write_items(*items_of(target), *items);
    } else {
      write_items(*items_of(target), to_dense(source));
    }
  }

 private:
  static void check_items_fit(const TensorDict& target, const TensorDictBase& source) {
    const auto* items = items_of(source);
    if (items == nullptr) {
      return check_items_fit(target, to_dense(source));
    }
    check_batch_size(target, source);
    for (const auto& [key, value] : items->items()) {
      const auto* place = target.find(key);
      if (place == nullptr) {
        TORCH_CHECK(!target.is_locked(),
                    "Cannot modify locked TensorDict: the key '",
                    key,
                    "' is not in it");
        continue;
      }
      check_same_kind(key, *place, value);
      if (const auto* leaf = place->leaf()) {
        check_writable(key, leaf->tensor, value.tensor());
      } else if (const auto* jagged = place->jagged()) {
        check_jagged_fits(key, *jagged, *value.jagged());
      } else if (const auto* nested = place->nested()) {
        check_fits(*nested, *value.nested());
      }
    }
  }

  static void write_items(TensorDict& target, const TensorDict& source) {
    for (const auto& [key, value] : source.items()) {
      Entry* place = target.find(key);
      if (place == nullptr) {
        target.set(key, value);
      } else if (const auto* leaf = place->leaf()) {
        leaf->tensor.copy_(value.tensor());
      } else if (const auto* jagged = place->jagged()) {
        write_jagged(*jagged, *value.jagged());
      } else if (auto* nested = place->nested()) {
        write(*nested, *value.nested());
      } else {
        *place = value;
      }
    }
  }

  static void write_jagged(const Jagged& target, const Jagged& source) {
    target.values.copy_(source.values);
    target.offsets.copy_(source.offsets);
    if (target.lengths.defined()) {
      target.lengths.copy_(source.lengths);
    }
  }
};

void TensorDictBase::update_in_place(const TensorDictBase& source) {
  InPlaceUpdate::check_fits(*this, source);
  const at::NoGradGuard elements_have_no_history;
  InPlaceUpdate::write(*this, source);
}

}  // namespace tdref
