// SPDX-License-Identifier: BSD-3-Clause
#include "counting/counting.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>

#include <functional>
#include <thread>

namespace {

TdconfCounts counts_of(const std::function<void()>& what) {
  tdconf_counting_start();
  what();
  TdconfCounts counts;
  tdconf_counting_stop(&counts);
  return counts;
}

TEST(Counting, FindsNothingInNothing) {
  const auto counts = counts_of([] {});
  EXPECT_EQ(counts.messages, 0);
  EXPECT_EQ(counts.copied_bytes, 0);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.allocated_bytes, 0);
}

TEST(Counting, CountsWhatIsAllocated) {
  const auto counts = counts_of([] {
    at::empty({10}, at::kFloat);
    at::empty({3}, at::kLong);
  });
  EXPECT_EQ(counts.allocations, 2);
  EXPECT_EQ(counts.allocated_bytes, 10 * 4 + 3 * 8);
}

TEST(Counting, CountsTheBytesThatCopiesWrite) {
  const auto from = at::zeros({10}, at::kFloat);
  const auto to = at::zeros({10}, at::kDouble);
  EXPECT_EQ(counts_of([&] { to.copy_(from); }).copied_bytes, 10 * 8);
  EXPECT_EQ(counts_of([&] { from.clone(); }).copied_bytes, 10 * 4);
  EXPECT_EQ(counts_of([&] { at::cat({from, from, from}); }).copied_bytes, 3 * 10 * 4);
  EXPECT_EQ(counts_of([&] { at::_foreach_copy_({to, to}, {from, from}); }).copied_bytes, 2 * 80);
  EXPECT_EQ(counts_of([&] { from.narrow(0, 2, 3).view({3, 1}); }).copied_bytes, 0);
}

TEST(Counting, CountsACopyWithinACopyOnce) {
  const auto row = at::zeros({2, 5}, at::kFloat);  // at::stack calls at::cat
  EXPECT_EQ(counts_of([&] { at::stack({row, row}); }).copied_bytes, 2 * 10 * 4);
}

TEST(Counting, SeesEveryThread) {
  const auto tensor = at::zeros({10}, at::kFloat);
  const auto counts =
      counts_of([&] { std::thread([&] { at::zeros_like(tensor).copy_(tensor); }).join(); });
  EXPECT_EQ(counts.copied_bytes, 10 * 4);
  EXPECT_EQ(counts.allocations, 1);
}

TEST(Counting, BeginsAnewEachTime) {
  const auto allocate = [] { at::empty({1}, at::kLong); };
  EXPECT_EQ(counts_of(allocate).allocations, 1);
  allocate();
  EXPECT_EQ(counts_of(allocate).allocations, 1);
}

TEST(AwaitQuiet, ReturnsWhenTheOthersSleep) {
  EXPECT_EQ(tdconf_counting_await_quiet(), 0);
}

}  // namespace
