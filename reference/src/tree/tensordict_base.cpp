// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/errors.h>
#include <tdref/tensordict_base.h>

#include "tree/description.h"

namespace tdref {

std::string to_string(const KeyPath& path) {
  if (path.size() == 1) {
    return "'" + path[0] + "'";
  }
  std::string text = "(";
  for (const auto& key : path) {
    text += (text.size() > 1 ? ", '" : "'") + key + "'";
  }
  return text + ")";
}

TensorDictBase::TensorDictBase(Shape batch_size, std::optional<at::Device> device)
    : batch_size_(std::move(batch_size)), device_(device) {
  for (const auto dimension : batch_size_) {
    TORCH_CHECK_VALUE(dimension >= 0,
                      "a batch size has no negative dimension, got ",
                      c10::IntArrayRef(batch_size_));
  }
}

const Consolidated& TensorDictBase::consolidated() const {
  TDREF_CHECK_WITH(AttributeError,
                   is_consolidated(),
                   "the tensordict has no consolidated storage; call consolidate() first");
  return *owner().consolidated_;
}

void TensorDictBase::set_consolidated(Consolidated state) {
  lock();
  state.description = std::make_shared<DescribedOnce>();
  owner().consolidated_ = std::move(state);
}

void TensorDictBase::set_locked(bool locked) {
  locked_ = locked;
  if (!locked) {
    consolidated_.reset();
  }
}

}  // namespace tdref
