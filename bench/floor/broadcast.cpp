// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"
#include "floor/floor.h"
#include "floor/sizes.h"

namespace tdconf::bench::floor {
namespace {

class Broadcast : public Operation {
 public:
  Broadcast(const Ranks& ranks, std::int64_t bytes) : ranks_(ranks), storage_{new_bytes(bytes)} {}

  void run() override { ranks_.backend->broadcast(storage_)->wait(); }

  void refill() override {
    if (ranks_.rank == 0) {
      fill(storage_, 0);
    } else {
      poison(storage_);
    }
  }

  void check() override { check_filled(storage_, 0); }

 private:
  const Ranks& ranks_;
  Leaves storage_;
};

}  // namespace

std::unique_ptr<Operation> make_broadcast(Ranks& ranks, const Case& c) {
  return std::make_unique<Broadcast>(ranks, sizes_of(c).storage);
}

}  // namespace tdconf::bench::floor
