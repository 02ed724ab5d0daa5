// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/plan.h>

#include <limits>

#include "plan/pseudo_random.h"
#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {
namespace {

// c10d takes tags as int.
constexpr std::int64_t kMaxTag = std::numeric_limits<std::int32_t>::max();

class Tags {
 public:
  explicit Tags(const TagOptions& options) : next_(options.init_tag) {
    if (options.pseudo_rand) {
      pseudo_random_.emplace(static_cast<std::uint64_t>(options.init_tag));
    }
  }

  int next(const KeyPath& key) {
    if (pseudo_random_.has_value()) {
      return pseudo_random_->next();
    }
    TORCH_CHECK_VALUE(next_ <= kMaxTag,
                      "the tag ",
                      next_,
                      " of leaf ",
                      to_string(key),
                      " is too large; allowed are 0 to ",
                      kMaxTag);
    return static_cast<int>(next_++);
  }

 private:
  std::int64_t next_;
  std::optional<PseudoRandomTags> pseudo_random_;
};

class Planner {
 public:
  explicit Planner(const TagOptions& options) : tags_(options) {}

  void visit(const TensorDictBase& td) {
    visit_contents(td,
                   Overloaded{[&](const TensorDict& items) { visit_items(items); },
                              [&](const LazyStackedTensorDict& stack) { visit_members(stack); }});
  }

  std::vector<PlannedLeaf> finish() && { return std::move(plan_); }

 private:
  void visit_items(const TensorDict& td) {
    for (const Item* item : td.sorted_items()) {
      path_.push_back(item->key);
      TORCH_CHECK_NOT_IMPLEMENTED(item->value.jagged() == nullptr,
                                  "leaf ",
                                  to_string(path_),
                                  " cannot be transferred: it is jagged; allowed are strided "
                                  "tensors");
      if (const auto* leaf = item->value.leaf()) {
        plan_.push_back({path_, tags_.next(path_), leaf->tensor});
      } else if (const auto* nested = item->value.nested()) {
        visit(*nested);
      }
      path_.pop_back();
    }
  }

  void visit_members(const LazyStackedTensorDict& stack) {
    for (std::size_t i = 0; i < stack.members().size(); ++i) {
      path_.push_back(member_key(i));
      visit(*stack.members()[i]);
      path_.pop_back();
    }
  }

  Tags tags_;
  KeyPath path_;
  std::vector<PlannedLeaf> plan_;
};

}  // namespace

std::vector<PlannedLeaf> plan_transfer(const TensorDictBase& td, const TagOptions& options) {
  TORCH_CHECK_VALUE(
      options.init_tag >= 0, "Tag must be nonnegative, got init_tag=", options.init_tag);
  Planner planner(options);
  planner.visit(td);
  return std::move(planner).finish();
}

std::optional<int> first_tag(const TagOptions& options) {
  if (options.init_tag < 0 || (!options.pseudo_rand && options.init_tag > kMaxTag)) {
    return std::nullopt;
  }
  return Tags(options).next({});
}

std::int64_t last_tag(const std::vector<PlannedLeaf>& plan, const TagOptions& options) {
  return plan.empty() ? options.init_tag - 1 : plan.back().tag;
}

}  // namespace tdref
