// SPDX-License-Identifier: BSD-3-Clause
#include "plan/reductions.h"

#include <algorithm>
#include <utility>

#include "plan/sorted_walk.h"

namespace tdref {
namespace {

using Leaves = std::vector<ReducedLeaf>;

bool is_alike(const ReducedLeaf& a, const ReducedLeaf& b) {
  return a.shape == b.shape && a.first().scalar_type() == b.first().scalar_type() &&
         a.first().layout() == b.first().layout() && a.first().device() == b.first().device();
}

std::vector<KeyPath> keys_of(const Leaves& leaves) {
  std::vector<KeyPath> keys;
  keys.reserve(leaves.size());
  for (const auto& leaf : leaves) {
    keys.push_back(leaf.key);
  }
  return keys;
}

std::string describe(const Leaves& leaves) {
  std::string text;
  for (const auto& leaf : leaves) {
    text += (text.empty() ? "" : ", ") + to_string(leaf.key);
  }
  return text.empty() ? "no leaf" : text;
}

void check_members_agree(const Leaves& first, const Leaves& member, std::size_t index) {
  TORCH_CHECK(keys_of(first) == keys_of(member),
              "a lazy stack whose members have other keys has no stacked leaves: member ",
              index,
              " has ",
              describe(member),
              ", member 0 has ",
              describe(first));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto& a = first[i];
    const auto& b = member[i];
    TORCH_CHECK(is_alike(a, b),
                "the leaves ",
                to_string(a.key),
                " of a lazy stack cannot be stacked: member ",
                index,
                " has shape ",
                c10::IntArrayRef(b.shape),
                ", dtype ",
                b.first().dtype(),
                " and layout ",
                b.first().layout(),
                ", member 0 has ",
                c10::IntArrayRef(a.shape),
                ", ",
                a.first().dtype(),
                " and ",
                a.first().layout());
  }
}

// The leaf that the `place`-th leaves of all members make.
ReducedLeaf stack_leaf(const std::vector<Leaves>& members, std::size_t place, std::int64_t dim) {
  ReducedLeaf stacked = members.front()[place];
  stacked.shape.insert(stacked.shape.begin() + dim, static_cast<std::int64_t>(members.size()));
  stacked.parts.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (auto part : members[i][place].parts) {
      part.place.insert(part.place.begin(), {dim, static_cast<std::int64_t>(i)});
      stacked.parts.push_back(std::move(part));
    }
  }
  return stacked;
}

class Planner final : public SortedWalk {
 public:
  explicit Planner(LazyStacks stacks, KeyPath path = {})
      : SortedWalk("reduced", std::move(path)), stacks_(stacks) {}

  Leaves finish() && { return std::move(leaves_); }

 private:
  void add(const at::Tensor& tensor) override {
    leaves_.push_back({path(), tensor.sizes().vec(), {{tensor, {}}}});
  }

  void visit_stack(const LazyStackedTensorDict& stack) override {
    stacks_ == LazyStacks::kStacked ? visit_stacked(stack) : SortedWalk::visit_stack(stack);
  }

  void visit_stacked(const LazyStackedTensorDict& stack) {
    std::vector<Leaves> members;
    for (const auto& member : stack.members()) {
      members.push_back(leaves_of(*member));
      check_members_agree(members.front(), members.back(), members.size() - 1);
    }
    for (std::size_t place = 0; place < members.front().size(); ++place) {
      leaves_.push_back(stack_leaf(members, place, stack.stack_dim()));
    }
  }

  Leaves leaves_of(const TensorDictBase& member) const {
    Planner planner(stacks_, path());
    planner.visit(member);
    return std::move(planner).finish();
  }

  LazyStacks stacks_;
  Leaves leaves_;
};

/// The memory from the first element of a part to behind its last.
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t leaf = 0;
};

std::optional<Extent> extent_of(const at::Tensor& tensor, std::size_t leaf) {
  if (tensor.layout() != at::kStrided || !tensor.is_cpu() || tensor.numel() == 0) {
    return std::nullopt;
  }
  std::int64_t last = 0;
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    last += (tensor.size(dim) - 1) * tensor.stride(dim);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
  return Extent{begin, begin + static_cast<std::size_t>(last + 1) * tensor.element_size(), leaf};
}

void mark_shared_memory(Leaves& leaves) {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    for (const auto& part : leaves[i].parts) {
      if (const auto extent = extent_of(part.tensor, i)) {
        extents.push_back(*extent);
      }
    }
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.begin < b.begin;
  });
  Extent furthest;
  for (const auto& extent : extents) {
    if (extent.begin < furthest.end && extent.leaf != furthest.leaf) {
      leaves[extent.leaf].shares_memory = true;
      leaves[furthest.leaf].shares_memory = true;
    }
    furthest = extent.end > furthest.end ? extent : furthest;
  }
}

bool is_packed(const ReducedLeaf& leaf) {
  return leaf.is_stacked() ||
         (leaf.first().layout() == at::kStrided && leaf.first().is_contiguous());
}

/// Fills the buckets of one device and dtype.
class Packer {
 public:
  explicit Packer(std::int64_t bucket_bytes) : bucket_bytes_(bucket_bytes) {}

  void add(ReducedLeaf leaf) {
    const auto nbytes = leaf.nbytes();
    if (buckets_.empty() || nbytes_ + nbytes > bucket_bytes_) {
      buckets_.emplace_back();
      nbytes_ = 0;
    }
    buckets_.back().push_back(std::move(leaf));
    nbytes_ += nbytes;
  }

  std::vector<Bucket>& buckets() { return buckets_; }

 private:
  std::int64_t bucket_bytes_;
  std::int64_t nbytes_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::int64_t ReducedLeaf::nbytes() const {
  return c10::multiply_integers(shape) * static_cast<std::int64_t>(first().element_size());
}

std::vector<ReducedLeaf> plan_reductions(const TensorDictBase& td, LazyStacks stacks) {
  Planner planner(stacks);
  planner.visit(td);
  auto leaves = std::move(planner).finish();
  mark_shared_memory(leaves);
  return leaves;
}

std::vector<Bucket> plan_buckets(std::vector<ReducedLeaf> leaves,
                                 const std::optional<std::int64_t>& bucket_bytes) {
  TORCH_CHECK_VALUE(!bucket_bytes.has_value() || *bucket_bytes > 0,
                    "bucket_bytes must be a positive number of bytes, got ",
                    bucket_bytes.value_or(0));
  std::vector<Bucket> buckets;
  std::vector<std::pair<std::pair<at::Device, at::ScalarType>, Packer>> packers;
  for (auto& leaf : leaves) {
    if (!bucket_bytes.has_value() || !is_packed(leaf)) {
      buckets.push_back({std::move(leaf)});
      continue;
    }
    const std::pair key{leaf.first().device(), leaf.first().scalar_type()};
    auto place = std::find_if(
        packers.begin(), packers.end(), [&](const auto& packer) { return packer.first == key; });
    if (place == packers.end()) {
      place = packers.insert(packers.end(), {key, Packer(*bucket_bytes)});
    }
    place->second.add(std::move(leaf));
  }
  for (auto& [key, packer] : packers) {
    std::move(packer.buckets().begin(), packer.buckets().end(), std::back_inserter(buckets));
  }
  return buckets;
}

}  // namespace tdref
