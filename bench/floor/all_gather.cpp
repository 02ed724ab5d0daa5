// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"
#include "floor/floor.h"
#include "floor/sizes.h"

namespace tdconf::bench::floor {
namespace {

class AllGather : public Operation {
 public:
  AllGather(const Ranks& ranks, std::int64_t bytes)
      : ranks_(ranks), own_{new_bytes(bytes)}, gathered_(1) {
    for (int rank = 0; rank < ranks.world; ++rank) {
      gathered_[0].push_back(new_bytes(bytes));
    }
  }

  void run() override { ranks_.backend->allgather(gathered_, own_)->wait(); }

  void refill() override {
    fill(own_, ranks_.rank);
    poison(gathered_[0]);
  }

  void check() override {
    for (int rank = 0; rank < ranks_.world; ++rank) {
      check_filled({gathered_[0][static_cast<std::size_t>(rank)]}, rank);
    }
  }

 private:
  const Ranks& ranks_;
  Leaves own_;
  std::vector<Leaves> gathered_;
};

}  // namespace

std::unique_ptr<Operation> make_all_gather(Ranks& ranks, const Case& c) {
  return std::make_unique<AllGather>(ranks, sizes_of(c).storage);
}

}  // namespace tdconf::bench::floor
