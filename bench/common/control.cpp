// SPDX-License-Identifier: BSD-3-Clause
#include "common/control.h"

#include <ATen/ops/tensor.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <vector>

namespace tdconf::bench {

c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int world) {
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, rank, world, c10d::ProcessGroupGloo::Options::create_default(kTimeout));
}

c10::intrusive_ptr<c10d::Store> open_store(const std::string& folder,
                                           const std::string& name,
                                           int world) {
  auto store = c10::make_intrusive<c10d::FileStore>(folder + '/' + name, world);
  store->setTimeout(kTimeout);
  return store;
}

Control::Control(const std::string& folder, int rank, int world)
    : rank_(rank),
      world_(world),
      store_(open_store(folder, "control", world)),
      backend_(connect(c10::make_intrusive<c10d::PrefixStore>("gloo/", store_), rank, world)) {}

double Control::slowest(double seconds) {
  std::vector<at::Tensor> times{at::tensor({seconds}, at::kDouble)};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  backend_->allreduce(times, options)->wait();
  return times[0].item<double>();
}

void Control::meet() {
  const auto prefix = "meeting/" + std::to_string(++meetings_) + '/';
  store_->set(prefix + std::to_string(rank_), std::string("1"));
  std::vector<std::string> keys;
  for (int rank = 0; rank < world_; ++rank) {
    keys.push_back(prefix + std::to_string(rank));
  }
  store_->wait(keys, kTimeout);
}

}  // namespace tdconf::bench
