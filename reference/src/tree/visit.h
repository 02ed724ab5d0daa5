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

/// Calls `visitor` with the tensordict as its own kind.
template <typename Visitor>
decltype(auto) visit_kind(const TensorDictBase& td, Visitor&& visitor) {
  if (const auto* stack = td.as<LazyStackedTensorDict>()) {
    return std::forward<Visitor>(visitor)(*stack);
  }
  if (const auto* persistent = td.as<PersistentTensorDict>()) {
    return std::forward<Visitor>(visitor)(*persistent);
  }
  return std::forward<Visitor>(visitor)(*td.as<TensorDict>());
}

/// As visit_kind(), but gives the contents of a persistent tensordict in its place.
template <typename Visitor>
decltype(auto) visit_contents(const TensorDictBase& td, Visitor&& visitor) {
  return visit_kind(
      td,
      Overloaded{[&](const PersistentTensorDict& persistent) -> decltype(auto) {
                   return visitor(persistent.contents());
                 },
                 [&](const auto& other) -> decltype(auto) { return visitor(other); }});
}

}  // namespace tdref
