// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/all_gather.h>

#include <vector>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

/// Every rank consolidates its tensordict each time.
class AllGather : public ReferenceOperation {
 public:
  AllGather(Ranks& ranks, const Case& c)
      : ReferenceOperation(ranks), leaves_(new_leaves(c)), td_(make_tree(c, leaves_)) {}

  void run() override { gathered_ = tdref::all_gather(ranks_.groups, td_); }

  void refill() override {
    fill(leaves_, ranks_.rank);
    gathered_.clear();
  }

  void check() override {
    for (int rank = 0; rank < ranks_.world; ++rank) {
      check_filled(leaves_of(*gathered_.at(static_cast<std::size_t>(rank))), rank);
    }
  }

 private:
  Leaves leaves_;
  tdref::TensorDict td_;
  std::vector<tdref::AnyTensorDict> gathered_;
};

}  // namespace

std::unique_ptr<Operation> make_all_gather(Ranks& ranks, const Case& c) {
  return std::make_unique<AllGather>(ranks, c);
}

}  // namespace tdconf::bench::reference
