// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

class SendConsolidated : public TransferOperation {
 public:
  using TransferOperation::TransferOperation;

 private:
  void send(tdref::TensorDict& td) override {
    tdref::send(ranks_.groups, td, {.dst = 1, .consolidated = true});
  }
  void receive(tdref::TensorDict& td) override {
    tdref::recv(ranks_.groups, td, {.src = 0, .consolidated = true});
  }
};

}  // namespace

std::unique_ptr<Operation> make_send_consolidated(Ranks& ranks, const Case& c) {
  return std::make_unique<SendConsolidated>(ranks, tdref::consolidate(make_tree(c, new_leaves(c))));
}

std::unique_ptr<Operation> make_send_consolidating(Ranks& ranks, const Case& c) {
  auto td = make_tree(c, new_leaves(c));
  return std::make_unique<SendConsolidated>(
      ranks, ranks.rank == 0 ? std::move(td) : tdref::consolidate(td));
}

}  // namespace tdconf::bench::reference
