// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/plan.h>

#include <limits>
#include <optional>

#include "plan/pseudo_random.h"

namespace tdref {
namespace {

// The largest tag that a Python rank can send or receive with: its binding refuses 2^31 - 1.
constexpr std::int64_t kMaxTag = std::numeric_limits<std::int32_t>::max() - 1;

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

void visit(const TensorDict& td, KeyPath& path, Tags& tags, std::vector<PlannedLeaf>& plan) {
  for (const Item* item : td.sorted_items()) {
    path.push_back(item->key);
    if (const auto* leaf = item->value.leaf()) {
      plan.push_back({path, tags.next(path), leaf->tensor});
    } else if (const auto* nested = item->value.nested()) {
      visit(*nested, path, tags, plan);
    }
    path.pop_back();
  }
}

}  // namespace

std::vector<PlannedLeaf> plan_transfer(const TensorDict& td, const TagOptions& options) {
  TORCH_CHECK_VALUE(
      options.init_tag >= 0, "Tag must be nonnegative, got init_tag=", options.init_tag);
  Tags tags(options);
  std::vector<PlannedLeaf> plan;
  KeyPath path;
  visit(td, path, tags, plan);
  return plan;
}

std::int64_t last_tag(const std::vector<PlannedLeaf>& plan, const TagOptions& options) {
  return plan.empty() ? options.init_tag - 1 : plan.back().tag;
}

}  // namespace tdref
