// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/all_reduce.h>

#include <utility>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

// No case has more bytes than this.
constexpr std::int64_t kOneBucket = std::int64_t{1} << 30;

class AllReduce : public ReferenceOperation {
 public:
  AllReduce(Ranks& ranks, const Case& c, tdref::AllReduceOptions options)
      : ReferenceOperation(ranks),
        leaves_(new_leaves(c)),
        td_(make_tree(c, leaves_)),
        options_(std::move(options)) {}

  void run() override { tdref::all_reduce(ranks_.groups, td_, options_); }
  void refill() override { fill(leaves_, ranks_.rank); }
  void check() override { check_summed(leaves_, ranks_.world); }

 private:
  Leaves leaves_;
  tdref::TensorDict td_;
  tdref::AllReduceOptions options_;
};

}  // namespace

std::unique_ptr<Operation> make_all_reduce(Ranks& ranks, const Case& c) {
  return std::make_unique<AllReduce>(ranks, c, tdref::AllReduceOptions{});
}

std::unique_ptr<Operation> make_all_reduce_buckets(Ranks& ranks, const Case& c) {
  return std::make_unique<AllReduce>(ranks, c, tdref::AllReduceOptions{.bucket_bytes = kOneBucket});
}

}  // namespace tdconf::bench::reference
