// SPDX-License-Identifier: BSD-3-Clause
#include "common/injection.h"

#include <gtest/gtest.h>

namespace tdconf::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLength{2};

/// Takes at least a known time.
class Waiting : public Operation {
 public:
  explicit Waiting(int& runs) : runs_(runs) {}
  void run() override {
    ++runs_;
    const auto until = Clock::now() + kLength;
    while (Clock::now() < until) {
    }
  }
  void refill() override {}
  void check() override {}
  std::int64_t run_counted() override { return 7; }

 private:
  int& runs_;
};

TEST(Injected, AddsAFractionOfTheTimeThatTheOperationTook) {
  int runs = 0;
  Injected slower(std::make_unique<Waiting>(runs), 1.5);
  const auto start = Clock::now();
  slower.run();
  EXPECT_GE(Clock::now() - start, kLength * 2.5);
  EXPECT_EQ(runs, 1);
}

TEST(Injected, CountsTheOperationAlone) {
  int runs = 0;
  EXPECT_EQ(Injected(std::make_unique<Waiting>(runs), 1.5).run_counted(), 7);
}

}  // namespace
}  // namespace tdconf::bench
