// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/recv.h>
#include <tdref/send.h>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

class Send : public TransferOperation {
 public:
  Send(Ranks& ranks, const Case& c, bool pseudo_rand)
      : TransferOperation(ranks, make_tree(c, new_leaves(c))), pseudo_rand_(pseudo_rand) {}

 private:
  void send(tdref::TensorDict& td) override {
    tdref::send(ranks_.groups, td, {.dst = 1, .pseudo_rand = pseudo_rand_});
  }
  void receive(tdref::TensorDict& td) override {
    tdref::recv(ranks_.groups, td, {.src = 0, .pseudo_rand = pseudo_rand_});
  }

  bool pseudo_rand_;
};

}  // namespace

std::unique_ptr<Operation> make_send(Ranks& ranks, const Case& c) {
  return std::make_unique<Send>(ranks, c, /*pseudo_rand=*/false);
}

std::unique_ptr<Operation> make_send_pseudo_rand(Ranks& ranks, const Case& c) {
  return std::make_unique<Send>(ranks, c, /*pseudo_rand=*/true);
}

}  // namespace tdconf::bench::reference
