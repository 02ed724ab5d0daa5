// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/full.h>

#include <vector>

#include "common/values.h"
#include "floor/floor.h"
#include "floor/sizes.h"

namespace tdconf::bench::floor {
namespace {

/// Tells all ranks a header, then gathers as many bytes of each rank on rank 0, its own too.
class Gather : public Operation {
 public:
  Gather(const Ranks& ranks, std::int64_t header_length, std::int64_t bytes)
      : ranks_(ranks),
        header_{at::full({header_length}, bytes, at::kLong)},
        headers_(1),
        own_{new_bytes(bytes)} {
    for (int rank = 0; rank < ranks.world; ++rank) {
      headers_[0].push_back(at::zeros_like(header_[0]));
    }
    if (ranks.rank == 0) {
      gathered_.emplace_back();
      for (int rank = 0; rank < ranks.world; ++rank) {
        gathered_[0].push_back(new_bytes(bytes));
      }
    }
  }

  void run() override {
    ranks_.backend->allgather(headers_, header_)->wait();
    ranks_.backend->gather(gathered_, own_)->wait();
  }

  void refill() override {
    fill(own_, ranks_.rank);
    if (ranks_.rank == 0) {
      poison(gathered_[0]);
    }
  }

  void check() override {
    for (int rank = 1; ranks_.rank == 0 && rank < ranks_.world; ++rank) {
      check_filled({gathered_[0][static_cast<std::size_t>(rank)]}, rank);
    }
  }

 private:
  const Ranks& ranks_;
  Leaves header_;
  std::vector<Leaves> headers_;
  Leaves own_;
  std::vector<Leaves> gathered_;
};

}  // namespace

std::unique_ptr<Operation> make_gather_and_stack(Ranks& ranks, const Case& c) {
  const auto sizes = sizes_of(c);
  return std::make_unique<Gather>(ranks, 3, sizes.storage + sizes.metadata);
}

std::unique_ptr<Operation> make_gather_and_stack_pickles(Ranks& ranks, const Case& c) {
  return std::make_unique<Gather>(ranks, 1, sizes_of(c).pickle);
}

}  // namespace tdconf::bench::floor
