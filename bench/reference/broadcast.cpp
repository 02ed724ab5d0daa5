// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/broadcast.h>

#include <optional>
#include <variant>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

/// Rank 0 consolidates its tensordict each time.
class Broadcast : public ReferenceOperation {
 public:
  Broadcast(Ranks& ranks, const Case& c)
      : ReferenceOperation(ranks), leaves_(new_leaves(c)), td_(make_tree(c, leaves_)) {}

  void run() override {
    result_ = std::get<tdref::AnyTensorDict>(tdref::broadcast(ranks_.groups, td_, {.src = 0}));
  }

  void refill() override {
    if (ranks_.rank == 0) {
      fill(leaves_, 0);
    } else {
      poison(leaves_);
    }
    result_.reset();
  }

  void check() override { check_filled(leaves_of(**result_), 0); }

 private:
  Leaves leaves_;
  tdref::TensorDict td_;
  std::optional<tdref::AnyTensorDict> result_;
};

}  // namespace

std::unique_ptr<Operation> make_broadcast(Ranks& ranks, const Case& c) {
  return std::make_unique<Broadcast>(ranks, c);
}

}  // namespace tdconf::bench::reference
