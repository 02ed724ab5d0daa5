// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <tdref/tensordict.h>

#include <algorithm>

#include "tree/kinds.h"

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
void check_batch_size(const TensorDict& target, const TensorDict& source) {
  const c10::IntArrayRef got = source.batch_size();
  const c10::IntArrayRef wanted = target.batch_size();
  const auto common = std::min(got.size(), wanted.size());
  TORCH_CHECK(got.slice(0, common) == wanted.slice(0, common),
              "a source with batch size ",
              got,
              " does not fit a destination with batch size ",
              wanted);
}

void check_fits(const TensorDict& target, const TensorDict& source) {
  check_batch_size(target, source);
  for (const auto& [key, value] : source.items()) {
    const auto* place = target.find(key);
    if (place == nullptr) {
      TORCH_CHECK(
          !target.is_locked(), "Cannot modify locked TensorDict: the key '", key, "' is not in it");
      continue;
    }
    check_same_kind(key, *place, value);
    if (const auto* leaf = place->leaf()) {
      check_writable(key, leaf->tensor, value.tensor());
    } else if (const auto* nested = place->nested()) {
      check_fits(*nested, *value.nested());
    }
  }
}

}  // namespace

void TensorDict::update_in_place(const TensorDict& source) {
  check_fits(*this, source);
  const at::NoGradGuard elements_have_no_history;
  write(source);
}

void TensorDict::write(const TensorDict& source) {
  for (const auto& [key, value] : source.items()) {
    Entry* place = find(key);
    if (place == nullptr) {
      set(key, value);
    } else if (const auto* leaf = place->leaf()) {
      leaf->tensor.copy_(value.tensor());
    } else if (auto* nested = place->nested()) {
      nested->write(*value.nested());
    } else {
      *place = value;
    }
  }
}

}  // namespace tdref
