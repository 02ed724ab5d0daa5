// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/plan.h>

#include <limits>

#include "plan/pseudo_random.h"
#include "plan/sorted_walk.h"

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

class Planner final : public SortedWalk {
 public:
  explicit Planner(const TagOptions& options) : SortedWalk("transferred"), tags_(options) {}

  std::vector<PlannedLeaf> finish() && { return std::move(plan_); }

 private:
  void add(const at::Tensor& tensor) override {
    plan_.push_back({path(), tags_.next(path()), tensor});
  }

  Tags tags_;
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
