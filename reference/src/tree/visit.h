// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <utility>

namespace tdref {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Points at what a TensorDict or a tensorclass maps its keys to; null for another kind.
inline const TensorDict* items_of(const TensorDictBase& td) {
  const auto* tensorclass = td.as<TensorClass>();
  return tensorclass == nullptr ? td.as<TensorDict>() : &tensorclass->contents();
}
inline TensorDict* items_of(TensorDictBase& td) {
  auto* tensorclass = td.as<TensorClass>();
  return tensorclass == nullptr ? td.as<TensorDict>() : &tensorclass->edit_contents();
}

/// Calls `visitor` with the tensordict as its own kind.
template <typename Visitor>
decltype(auto) visit_kind(const TensorDictBase& td, Visitor&& visitor) {
  if (const auto* stack = td.as<LazyStackedTensorDict>()) {
    return std::forward<Visitor>(visitor)(*stack);
  }
  if (const auto* persistent = td.as<PersistentTensorDict>()) {
    return std::forward<Visitor>(visitor)(*persistent);
  }
  if (const auto* tensorclass = td.as<TensorClass>()) {
    return std::forward<Visitor>(visitor)(*tensorclass);
  }
  return std::forward<Visitor>(visitor)(*td.as<TensorDict>());
}

/// As visit_kind(), but gives the contents of a persistent tensordict or a tensorclass in its place.
template <typename Visitor>
decltype(auto) visit_contents(const TensorDictBase& td, Visitor&& visitor) {
  return visit_kind(
      td,
      Overloaded{[&](const PersistentTensorDict& persistent) -> decltype(auto) {
                   return visitor(persistent.contents());
                 },
                 [&](const TensorClass& tensorclass) -> decltype(auto) {
                   return visitor(tensorclass.contents());
                 },
                 [&](const auto& other) -> decltype(auto) { return visitor(other); }});
}

}  // namespace tdref
