// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty.h>
#include <tdref/gather_and_stack.h>

#include <utility>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

/// What rank 0 stacks into has a row for each other rank.
Leaves new_rows(const Case& c, std::int64_t rows) {
  Leaves leaves;
  for (std::int64_t i = 0; i < c.leaves; ++i) {
    leaves.push_back(at::empty({rows, c.elements()}, c.dtype));
  }
  return leaves;
}

class GatherAndStack : public ReferenceOperation {
 public:
  GatherAndStack(Ranks& ranks, const Case& c, const tdref::World& groups)
      : ReferenceOperation(ranks),
        groups_(groups),
        leaves_(ranks.rank == 0 ? new_rows(c, ranks.world - 1) : new_leaves(c)),
        td_(make_tree(
            c, leaves_, ranks.rank == 0 ? tdref::Shape{ranks.world - 1} : tdref::Shape{})) {}

  void run() override { tdref::gather_and_stack(groups_, td_, {.dst = 0}); }

  void refill() override {
    if (ranks_.rank == 0) {
      poison(leaves_);
    } else {
      fill(leaves_, ranks_.rank);
    }
  }

  void check() override {
    for (int rank = 1; ranks_.rank == 0 && rank < ranks_.world; ++rank) {
      Leaves row;
      for (const auto& leaf : leaves_) {
        row.push_back(leaf[rank - 1]);
      }
      check_filled(row, rank);
    }
  }

 private:
  const tdref::World& groups_;
  Leaves leaves_;
  tdref::TensorDict td_;
};

}  // namespace

std::unique_ptr<Operation> make_gather_and_stack(Ranks& ranks, const Case& c) {
  return std::make_unique<GatherAndStack>(ranks, c, ranks.groups);
}

std::unique_ptr<Operation> make_gather_and_stack_pickles(Ranks& ranks, const Case& c) {
  return std::make_unique<GatherAndStack>(ranks, c, ranks.pickles());
}

}  // namespace tdconf::bench::reference
