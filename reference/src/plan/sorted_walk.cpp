// SPDX-License-Identifier: BSD-3-Clause
#include "plan/sorted_walk.h"

#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {

void SortedWalk::visit(const TensorDictBase& td) {
  visit_contents(td,
                 Overloaded{[&](const TensorDict& items) { visit_items(items); },
                            [&](const LazyStackedTensorDict& stack) { visit_stack(stack); }});
}

void SortedWalk::visit_items(const TensorDict& td) {
  for (const Item* item : td.sorted_items()) {
    path_.push_back(item->key);
    TORCH_CHECK_NOT_IMPLEMENTED(item->value.jagged() == nullptr,
                                "leaf ",
                                to_string(path_),
                                " cannot be ",
                                done_,
                                ": it is jagged; allowed are strided tensors");
    if (const auto* leaf = item->value.leaf()) {
      add(leaf->tensor);
    } else if (const auto* nested = item->value.nested()) {
      visit(*nested);
    }
    path_.pop_back();
  }
}

void SortedWalk::visit_stack(const LazyStackedTensorDict& stack) {
  for (std::size_t i = 0; i < stack.members().size(); ++i) {
    path_.push_back(member_key(i));
    visit(*stack.members()[i]);
    path_.pop_back();
  }
}

}  // namespace tdref
