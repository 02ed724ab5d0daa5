// SPDX-License-Identifier: BSD-3-Clause
#include "tree/tensorclass.h"

#include <tdref/tensordict.h>

#include <utility>
#include <vector>

namespace tdref {

TensorClass::TensorClass(PythonClass cls, TensorDict contents)
    : cls_(std::move(cls)), contents_(std::move(contents)) {}

AnyTensorDict of_class(const PythonClass& cls,
                       const AnyTensorDict& contents,
                       const std::function<void()>& on_class) {
  if (const auto* items = contents->as<TensorDict>()) {
    on_class();
    return TensorClass(cls, *items);
  }
  const auto* stack = contents->as<LazyStackedTensorDict>();
  TORCH_CHECK_VALUE(stack != nullptr,
                    "a tensorclass holds another tensordict; allowed are TensorDict and "
                    "LazyStackedTensorDict");
  std::vector<AnyTensorDict> members;
  for (const auto& member : stack->members()) {
    members.push_back(of_class(cls, member, on_class));
  }
  LazyStackedTensorDict result(std::move(members), stack->stack_dim(), stack->stack_dim_name());
  if (stack->is_locked()) {
    result.lock();
  }
  return result;
}

}  // namespace tdref
