// SPDX-License-Identifier: BSD-3-Clause
#include "tree/walk.h"

#include <algorithm>

#include "tree/visit.h"

namespace tdref {
namespace {

using VisitEntry = std::function<void(const KeyPath&, const Entry&)>;
using MapTensor = std::function<at::Tensor(const at::Tensor&)>;

void visit_below(const TensorDictBase& td, KeyPath& path, const VisitEntry& visit);

void visit_items(const TensorDict& td, KeyPath& path, const VisitEntry& visit) {
  for (const auto& [key, value] : td.items()) {
    path.push_back(key);
    if (const auto* nested = value.nested()) {
      visit_below(*nested, path, visit);
    } else if (value.non_tensor() == nullptr) {
      visit(path, value);
    }
    path.pop_back();
  }
}

void visit_members(const LazyStackedTensorDict& stack, KeyPath& path, const VisitEntry& visit) {
  for (std::size_t i = 0; i < stack.members().size(); ++i) {
    path.push_back(member_key(i));
    visit_below(*stack.members()[i], path, visit);
    path.pop_back();
  }
}

void visit_below(const TensorDictBase& td, KeyPath& path, const VisitEntry& visit) {
  visit_contents(
      td,
      Overloaded{[&](const TensorDict& items) { visit_items(items, path, visit); },
                 [&](const LazyStackedTensorDict& stack) { visit_members(stack, path, visit); }});
}

Jagged map_parts(const Jagged& jagged, const MapTensor& map) {
  Jagged copy{.values = map(jagged.values), .ragged_idx = jagged.ragged_idx};
  copy.lengths = jagged.lengths.defined() ? map(jagged.lengths) : at::Tensor();
  copy.offsets = map(jagged.offsets);
  return copy;
}

TensorDict map_items(const TensorDict& td, const MapTensor& map) {
  TensorDict copy(td.batch_size(), td.device());
  copy.set_names(td.names());
  for (const auto& [key, value] : td.items()) {
    if (const auto* leaf = value.leaf()) {
      copy.set(key, map(leaf->tensor));
    } else if (const auto* jagged = value.jagged()) {
      copy.set(key, map_parts(*jagged, map));
    } else if (const auto* nested = value.nested()) {
      copy.set(key, Entry(map_tensors(*nested, map)));
    } else {
      copy.set(key, value);
    }
  }
  return copy;
}

LazyStackedTensorDict map_members(const LazyStackedTensorDict& stack, const MapTensor& map) {
  std::vector<AnyTensorDict> members;
  for (const auto& member : stack.members()) {
    members.push_back(map_tensors(*member, map));
  }
  return LazyStackedTensorDict(std::move(members), stack.stack_dim(), stack.stack_dim_name());
}

}  // namespace

std::string member_key(std::size_t index) {
  return std::to_string(index);
}

std::string values_key(const std::string& key) {
  return "<NJT_VALUES>" + key;
}
std::string lengths_key(const std::string& key) {
  return "<NJT_LENGTHS>" + key;
}
std::string offsets_key(const std::string& key) {
  return "<NJT_OFFSETS>" + key;
}

void for_each_leaf(const TensorDictBase& td, const VisitEntry& visit) {
  KeyPath path;
  visit_below(td, path, visit);
}

void for_each_tensor(const TensorDictBase& td,
                     const std::function<void(const KeyPath&, const at::Tensor&)>& visit) {
  for_each_leaf(td, [&](const KeyPath& path, const Entry& entry) {
    const auto* jagged = entry.jagged();
    if (jagged == nullptr) {
      return visit(path, entry.tensor());
    }
    const auto visit_part = [&](const std::string& part_key, const at::Tensor& part) {
      auto part_path = path;
      part_path.back() = part_key;
      visit(part_path, part);
    };
    visit_part(values_key(path.back()), jagged->values);
    if (jagged->lengths.defined()) {
      visit_part(lengths_key(path.back()), jagged->lengths);
    }
    visit_part(offsets_key(path.back()), jagged->offsets);
  });
}

bool holds_persistent(const TensorDictBase& td) {
  if (td.as<PersistentTensorDict>() != nullptr) {
    return true;
  }
  return visit_contents(
      td,
      Overloaded{[](const TensorDict& items) {
                   return std::any_of(
                       items.items().begin(), items.items().end(), [](const Item& item) {
                         const auto* nested = item.value.nested();
                         return nested != nullptr && holds_persistent(*nested);
                       });
                 },
                 [](const LazyStackedTensorDict& stack) {
                   return std::any_of(stack.members().begin(),
                                      stack.members().end(),
                                      [](const auto& member) { return holds_persistent(*member); });
                 }});
}

AnyTensorDict map_tensors(const TensorDictBase& td, const MapTensor& map) {
  if (const auto* tensorclass = td.as<TensorClass>()) {
    return tensorclass->with(map_items(tensorclass->contents(), map));
  }
  return visit_contents(
      td,
      Overloaded{[&](const TensorDict& items) -> AnyTensorDict { return map_items(items, map); },
                 [&](const LazyStackedTensorDict& stack) -> AnyTensorDict {
                   return map_members(stack, map);
                 }});
}

}  // namespace tdref
