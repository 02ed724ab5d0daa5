// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>

namespace tdconf::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Rank 2, leaf 1: (2 + 1) * (1 + 1) + element.
TEST(Fill, FollowsTheFormula) {
  const Leaves leaves{at::empty({2}, at::kFloat), at::empty({3}, at::kLong)};
  fill(leaves, 2);
  EXPECT_TRUE(leaves[0].equal(at::tensor({3.0F, 4.0F})));
  EXPECT_TRUE(leaves[1].equal(at::tensor({6, 7, 8}, at::kLong)));
}

TEST(Fill, TakesTheRemainderBeforeTheElementIsStored) {
  const Leaves leaves{at::empty({300}, at::kByte)};
  fill(leaves, 0);
  EXPECT_EQ(leaves[0][95].item<int>(), 96);
  EXPECT_EQ(leaves[0][96].item<int>(), 0);
  EXPECT_EQ(leaves[0][299].item<int>(), 300 - 3 * 97);
}

TEST(CheckFilled, AcceptsWhatFillWrote) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kLong, at::kByte}) {
    const Leaves leaves{at::empty({2, 5}, dtype), at::empty({1}, dtype)};
    fill(leaves, 3);
    EXPECT_NO_THROW(check_filled(leaves, 3)) << dtype;
  }
}

TEST(CheckFilled, NamesTheElementThatIsWrong) {
  const Leaves leaves{at::empty({2}, at::kFloat), at::empty({3}, at::kLong)};
  fill(leaves, 0);
  leaves[1][2] = 50;
  EXPECT_THAT([&] { check_filled(leaves, 0); },
              ThrowsMessage<c10::ValueError>(HasSubstr("leaf 1, element 2 is 50, expected 4")));
}

TEST(CheckFilled, RejectsWhatAnotherRankWrote) {
  const Leaves leaves{at::empty({2}, at::kFloat)};
  fill(leaves, 1);
  EXPECT_THROW(check_filled(leaves, 0), c10::ValueError);
}

TEST(CheckFilled, RejectsEveryPoisonedElement) {
  const Leaves leaves{at::empty({200}, at::kByte)};
  fill(leaves, 0);
  const auto written = leaves[0].clone();
  poison(leaves);
  EXPECT_FALSE(leaves[0].eq(written).any().item<bool>());
  EXPECT_THROW(check_filled(leaves, 0), c10::ValueError);
}

// Ranks 0, 1 and 2 write 1, 2 and 3, then 2, 3 and 4.
TEST(CheckSummed, AcceptsTheSumOfAllRanks) {
  EXPECT_NO_THROW(check_summed({at::tensor({6.0, 9.0}, at::kDouble)}, 3));
  EXPECT_THAT(
      [] {
        check_summed({at::tensor({6.0, 8.0}, at::kDouble)}, 3);
      },
      ThrowsMessage<c10::ValueError>(HasSubstr("leaf 0, element 1 is 8, expected 9")));
}

// 23 ranks write 1 to 23, which make 276.
TEST(CheckSummed, WrapsAsTheDtypeDoes) {
  EXPECT_NO_THROW(check_summed({at::tensor({276 - 256}, at::kByte)}, 23));
}

}  // namespace
}  // namespace tdconf::bench
