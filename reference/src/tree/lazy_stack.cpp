// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/lazy_stack.h>
#include <tdref/tensordict.h>

#include "tree/stack.h"

namespace tdref {
namespace {

Shape stacked_batch_size(const std::vector<AnyTensorDict>& members, std::int64_t stack_dim) {
  TORCH_CHECK_VALUE(!members.empty(), "a lazy stack has at least one member");
  const auto& batch_size = members.front()->batch_size();
  for (std::size_t i = 1; i < members.size(); ++i) {
    TORCH_CHECK_VALUE(members[i]->batch_size() == batch_size,
                      "the members of a lazy stack have one batch size: member ",
                      i,
                      " has ",
                      c10::IntArrayRef(members[i]->batch_size()),
                      ", member 0 has ",
                      c10::IntArrayRef(batch_size));
  }
  return with_stack_dim(batch_size, stack_dim, members.size());
}

// Nothing when the members are on different devices.
std::optional<at::Device> common_device(const std::vector<AnyTensorDict>& members) {
  std::optional<at::Device> common;
  for (const auto& member : members) {
    if (member->device() != members.front()->device()) {
      return std::nullopt;
    }
    common = member->device();
  }
  return common;
}

}  // namespace

LazyStackedTensorDict::LazyStackedTensorDict(std::vector<AnyTensorDict> members,
                                             std::int64_t stack_dim,
                                             std::optional<std::string> stack_dim_name)
    : TensorDictBase(stacked_batch_size(members, stack_dim), common_device(members)),
      members_(std::move(members)),
      stack_dim_(stack_dim),
      stack_dim_name_(std::move(stack_dim_name)) {}

void LazyStackedTensorDict::lock() {
  set_locked(true);
  for (auto& member : members_) {
    member->lock();
  }
}

void LazyStackedTensorDict::unlock() {
  set_locked(false);
  for (auto& member : members_) {
    member->unlock();
  }
}

}  // namespace tdref
