// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/from_remote_init.h>
#include <tdref/init_remote.h>

#include <optional>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

class InitRemote : public ReferenceOperation {
 public:
  InitRemote(Ranks& ranks, const Case& c)
      : ReferenceOperation(ranks), leaves_(new_leaves(c)), td_(make_tree(c, leaves_)) {}

  void run() override {
    if (ranks_.rank == 0) {
      tdref::init_remote(ranks_.groups, td_, {.dst = 1});
    } else {
      received_ = tdref::from_remote_init(ranks_.groups, {.src = 0});
    }
  }

  void refill() override {
    fill(leaves_, 0);
    received_.reset();
  }

  void check() override {
    if (ranks_.rank == 1) {
      check_filled(leaves_of(**received_), 0);
    }
  }

 private:
  Leaves leaves_;
  tdref::TensorDict td_;
  std::optional<tdref::AnyTensorDict> received_;
};

}  // namespace

std::unique_ptr<Operation> make_init_remote(Ranks& ranks, const Case& c) {
  return std::make_unique<InitRemote>(ranks, c);
}

}  // namespace tdconf::bench::reference
