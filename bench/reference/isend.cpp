// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/irecv.h>
#include <tdref/isend.h>

#include <variant>

#include "reference/operation.h"

namespace tdconf::bench::reference {
namespace {

void wait_for_all(tdref::Works works) {
  for (auto& work : works) {
    work.wait();
  }
}

class Isend : public TransferOperation {
 public:
  Isend(Ranks& ranks, const Case& c) : TransferOperation(ranks, make_tree(c, new_leaves(c))) {}

 private:
  void send(tdref::TensorDict& td) override {
    auto pending = tdref::isend(ranks_.groups, td, {.dst = 1, .return_early = true});
    wait_for_all(std::get<tdref::Works>(std::move(pending)));
  }
  void receive(tdref::TensorDict& td) override {
    auto pending = tdref::irecv(ranks_.groups, td, {.src = 0, .return_premature = true});
    wait_for_all(std::move(pending).value());
  }
};

}  // namespace

std::unique_ptr<Operation> make_isend(Ranks& ranks, const Case& c) {
  return std::make_unique<Isend>(ranks, c);
}

}  // namespace tdconf::bench::reference
