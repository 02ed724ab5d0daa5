// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty.h>

#include <vector>

#include "common/values.h"
#include "floor/floor.h"

namespace tdconf::bench::floor {
namespace {

/// Adds tensors of all ranks: posts all reductions, then waits for all.
class AllReduce : public Operation {
 public:
  AllReduce(const Ranks& ranks, Leaves tensors) : ranks_(ranks), tensors_(std::move(tensors)) {}

  void run() override {
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    works.reserve(tensors_.size());
    std::vector<at::Tensor> tensor(1);
    for (const auto& reduced : tensors_) {
      tensor[0] = reduced;
      works.push_back(ranks_.backend->allreduce(tensor));
    }
    for (const auto& work : works) {
      work->wait();
    }
  }

  void refill() override { fill(tensors_, ranks_.rank); }
  void check() override { check_summed(tensors_, ranks_.world); }

 private:
  const Ranks& ranks_;
  Leaves tensors_;
};

}  // namespace

std::unique_ptr<Operation> make_all_reduce(Ranks& ranks, const Case& c) {
  return std::make_unique<AllReduce>(ranks, new_leaves(c));
}

std::unique_ptr<Operation> make_all_reduce_buckets(Ranks& ranks, const Case& c) {
  return std::make_unique<AllReduce>(ranks, Leaves{at::empty({c.leaves * c.elements()}, c.dtype)});
}

}  // namespace tdconf::bench::floor
