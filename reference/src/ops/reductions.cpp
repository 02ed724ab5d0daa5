// SPDX-License-Identifier: BSD-3-Clause
#include "ops/reductions.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "codec/elements.h"
#include "codec/layout.h"
#include "group/work.h"
#include "ops/collective.h"
#include "ops/structure.h"
#include "plan/reducible.h"
#include "plan/reductions.h"
#include "tree/walk.h"

namespace tdref {
namespace {

/// A result to be copied into a leaf when the reduction is done.
struct WriteBack {
  KeyPath key;
  at::Tensor from;
  at::Tensor to;
};

/// One reduction, as it is posted.
struct Reduction {
  KeyPath key;        // of its first leaf
  at::Tensor tensor;  // contiguous, or sparse
  std::vector<WriteBack> write_backs;
};

// Calls `call` with every item, whether it throws or not, and then throws the first error.
template <typename Items, typename Call>
void call_with_all(Items& items, const Call& call) {
  std::exception_ptr first;
  for (auto& item : items) {
    try {
      call(item);
    } catch (const std::exception&) {
      first = first ? first : std::current_exception();
    }
  }
  if (first) {
    std::rethrow_exception(first);
  }
}

void carry_out(const WriteBack& write_back) {
  TORCH_CHECK(write_back.to.layout() != at::kStrided ||
                  at::has_internal_overlap(write_back.to) != at::MemOverlap::Yes,
              "the result for leaf ",
              to_string(write_back.key),
              " cannot be written into a member of a lazy stack: its elements share memory");
  const at::NoGradGuard results_have_no_history;
  copy_elements(write_back.to, write_back.from);
}

/// Waits for a reduction, and writes its result back.
class ReductionState : public Work::State {
 public:
  ReductionState(Work message, std::vector<WriteBack> write_backs)
      : message_(std::move(message)), write_backs_(std::move(write_backs)) {}

  void wait(std::optional<std::chrono::milliseconds> timeout) override {
    const std::lock_guard lock(mutex_);
    message_.wait(timeout);
    call_with_all(write_backs_, carry_out);
    write_backs_.clear();
  }

 private:
  std::mutex mutex_;
  Work message_;
  std::vector<WriteBack> write_backs_;
};

/// Says whether the result of a reduction is wanted on this rank.
enum class Result : std::uint8_t { kWrittenBack, kUndefined };

Reduction reduce_alone(const ReducedLeaf& leaf) {
  const auto& tensor = leaf.first();
  if (tensor.is_sparse()) {
    const auto reduced = tensor.detach();  // what comes replaces its parts, not those of the leaf
    return {leaf.key, reduced, {{leaf.key, reduced, tensor}}};
  }
  auto elements = row_major(tensor);
  if (!elements.is_alias_of(tensor)) {
    return {leaf.key, elements, {{leaf.key, elements, tensor}}};
  }
  if (!leaf.shares_memory) {
    return {leaf.key, elements, {}};
  }
  elements = elements.clone();  // the other leaf's reduction would read what this one writes
  return {leaf.key, elements, {{leaf.key, elements, tensor}}};
}

at::Tensor slice_at(at::Tensor tensor, const std::vector<ReducedLeaf::Slice>& place) {
  for (const auto& [dim, index] : place) {
    tensor = tensor.select(dim, index);
  }
  return tensor;
}

// Copies the leaves of a bucket behind each other.
Reduction pack(const Bucket& bucket) {
  std::int64_t numel = 0;
  for (const auto& leaf : bucket) {
    numel += c10::multiply_integers(leaf.shape);
  }
  const auto options = bucket.front().first().options().requires_grad(false);
  Reduction packed{bucket.front().key, at::empty({numel}, options), {}};
  const auto dtype = packed.tensor.scalar_type();
  const auto itemsize = static_cast<std::int64_t>(packed.tensor.itemsize());
  std::int64_t start = 0;
  for (const auto& leaf : bucket) {
    const auto stop = start + c10::multiply_integers(leaf.shape) * itemsize;
    const auto room = view_span(packed.tensor, {start, stop}, dtype, leaf.shape);
    for (const auto& [tensor, place] : leaf.parts) {
      packed.write_backs.push_back({leaf.key, slice_at(room, place), tensor});
      copy_elements(packed.write_backs.back().from, tensor);
    }
    start = stop;
  }
  if (bucket.size() == 1) {
    packed.tensor = packed.tensor.view(bucket.front().shape);
  }
  return packed;
}

// gloo adds bools as bytes: two that are true make 2, and 256 of them 0.
bool adds_bools(const c10d::ReduceOp& op, at::ScalarType dtype) {
  return dtype == at::kBool && op == c10d::ReduceOp::SUM;
}

c10d::ReduceOp posted_op(const c10d::ReduceOp& op, at::ScalarType dtype) {
  return adds_bools(op, dtype) ? c10d::ReduceOp(c10d::ReduceOp::BOR) : op;
}

// Other implementations do add them so, and all that is not 0 is true.
void make_bools_of_bytes(Reduction& reduction, const at::Tensor& leaf) {
  if (reduction.write_backs.empty()) {
    reduction.write_backs.push_back({reduction.key, reduction.tensor, leaf});
  }
  for (auto& write_back : reduction.write_backs) {
    write_back.from = write_back.from.view(at::kByte);
  }
}

Reduction make_reduction(const Bucket& bucket, const c10d::ReduceOp& op, Result result) {
  const at::NoGradGuard copies_have_no_history;
  auto reduction = bucket.size() == 1 && !bucket.front().is_stacked() ? reduce_alone(bucket.front())
                                                                      : pack(bucket);
  if (reduction.tensor.is_complex()) {
    reduction.tensor = at::view_as_real(reduction.tensor);
  }
  if (adds_bools(op, reduction.tensor.scalar_type())) {
    make_bools_of_bytes(reduction, bucket.front().first());
  }
  if (result == Result::kUndefined) {
    reduction.write_backs.clear();
  }
  return reduction;
}

std::string describe(const std::vector<Bucket>& buckets) {
  std::string text;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    for (const auto& leaf : buckets[i]) {
      append_leaf(text, leaf.key, leaf.first().scalar_type(), leaf.shape);
      text += leaf.first().is_sparse() ? ", sparse" : "";
      text += buckets[i].size() > 1 ? ", in bucket " + std::to_string(i + 1) : "";
    }
  }
  return text;
}

std::vector<Bucket> plan(const TensorDictBase& td, const ReductionArguments& arguments) {
  TORCH_CHECK_NOT_IMPLEMENTED(!holds_persistent(td),
                              "a persistent tensordict cannot be reduced: its file is only read");
  const bool is_for_one = arguments.dst.has_value();
  const auto leaves =
      plan_reductions(td, is_for_one ? LazyStacks::kStacked : LazyStacks::kMemberByMember);
  for (const auto& leaf : leaves) {
    check_reducible(leaf, arguments.op, is_for_one ? Reduces::kOnOneRank : Reduces::kOnAllRanks);
  }
  return plan_buckets(leaves, arguments.bucket_bytes);
}

/// What start_reductions() starts.
struct Plan {
  Collective collective;
  std::vector<Reduction> reductions;
};

Plan plan_all(const TensorDictBase& td, const ReductionArguments& arguments) {
  const bool is_for_one = arguments.dst.has_value();
  const Group& group = arguments.group;
  group.group_rank();  // a member, or nobody is to be told
  Plan all{{.group = group, .operation = is_for_one ? "reduce" : "all_reduce"}, {}};
  all.collective = plan_collective(std::move(all.collective), [&](Collective& collective) {
    collective.call = collective.operation;
    collective.operation += " with " + to_string(arguments.op);
    auto result = Result::kWrittenBack;
    if (is_for_one) {
      collective.group_root = group.group_rank_of(*arguments.dst);
      collective.operation += c10::str(" on group rank ", *collective.group_root);
      result = *collective.group_root == group.group_rank() ? result : Result::kUndefined;
    }
    const auto buckets = plan(td, arguments);
    collective.leaves = describe(buckets);
    for (const auto& bucket : buckets) {
      all.reductions.push_back(make_reduction(bucket, arguments.op, result));
      collective.messages.push_back({all.reductions.back().key, 0, all.reductions.back().tensor});
    }
  });
  return all;
}

Works post(const Group& group,
           const c10d::ReduceOp& op,
           std::optional<int> group_dst,
           const std::vector<at::Tensor>& tensors) {
  Works works;
  works.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    const auto posted = posted_op(op, tensor.scalar_type());
    works.push_back(group_dst.has_value() ? group.reduce(tensor, *group_dst, posted)
                                          : group.all_reduce(tensor, posted));
  }
  return works;
}

Works start(const Plan& plan, const ReductionArguments& arguments) {
  std::vector<at::Tensor> tensors;
  for (const auto& reduction : plan.reductions) {
    tensors.push_back(reduction.tensor);
  }
  auto works = start(plan.collective,
                     tensors.size(),
                     [group = arguments.group,
                      op = arguments.op,
                      group_dst = plan.collective.group_root,
                      tensors] { return post(group, op, group_dst, tensors); });
  for (std::size_t i = 0; i < works.size(); ++i) {
    works[i] = Work(std::make_shared<ReductionState>(works[i], plan.reductions[i].write_backs));
  }
  return works;
}

}  // namespace

Works start_reductions(const TensorDictBase& td, const ReductionArguments& arguments) {
  return start(plan_all(td, arguments), arguments);
}

void complete_reductions(const TensorDictBase& td, const ReductionArguments& arguments) {
  const auto timeout = arguments.group.timeout();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto plan = plan_all(td, arguments);
  if (plan.reductions.empty()) {
    return agree(plan.collective);  // the others may have leaves
  }
  auto works = start(plan, arguments);
  call_with_all(works, [&](Work& work) { work.wait(time_left(deadline)); });
}

}  // namespace tdref
