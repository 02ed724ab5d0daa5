// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/recv.h>
#include <tdref/send.h>
#include <tdref/tensordict.h>

#include "ranks.h"
#include "tree/select.h"
#include "tree/stack.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

TensorDict member(int first, std::int64_t length = 2) {
  TensorDict td;
  td.set("a", testing::ramp(first, length));
  return td;
}

// Two members of batch size [2], stacked behind it.
LazyStackedTensorDict stack_behind() {
  return LazyStackedTensorDict({testing::sample(1), testing::sample(10)}, 1);
}

TEST(LazyStack, CountsItsMembersInItsBatchSize) {
  EXPECT_THAT(stack_behind().batch_size(), ElementsAre(2, 2));
  EXPECT_THAT(LazyStackedTensorDict({testing::sample(1)}).batch_size(), ElementsAre(1, 2));
  TensorDict td({2, 2});
  td.set("s", stack_behind());
  EXPECT_THROW(TensorDict({3}).set("s", stack_behind()), c10::Error);
}

TEST(LazyStack, RejectsMembersThatCannotBeStacked) {
  EXPECT_THROW(LazyStackedTensorDict({}), c10::ValueError);
  EXPECT_THROW(LazyStackedTensorDict({TensorDict({2}), TensorDict({3})}), c10::ValueError);
  EXPECT_THROW(LazyStackedTensorDict({TensorDict({2})}, 2), c10::ValueError);
  EXPECT_THROW(LazyStackedTensorDict({TensorDict({2})}, -1), c10::ValueError);
}

TEST(LazyStack, LocksItsMembers) {
  auto stack = stack_behind();
  stack.lock();
  EXPECT_TRUE(stack.members()[0]->is_locked());
  stack.unlock();
  EXPECT_FALSE(stack.members()[1]->is_locked());
}

TEST(Select, GivesTheMemberOrARowOfEachMember) {
  const auto stack = stack_behind();
  EXPECT_TRUE(testing::same(*select(stack, 1, 1), testing::sample(10)));
  const auto row = select(stack, 0, 1);
  const auto* rows = row->as<LazyStackedTensorDict>();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->stack_dim(), 0);
  EXPECT_TRUE(testing::plain(rows->members()[0]).get("b").tensor().equal(testing::ramp(4, 3)));
}

TEST(Select, GivesViews) {
  const auto td = testing::sample(1);
  testing::plain(select(td, 0, 1)).get("a").tensor().fill_(7);
  EXPECT_TRUE(td.get("a").tensor().equal(at::tensor({1, 7}, at::kLong)));
}

TEST(ToDense, StacksTheMembersAlongTheirDimension) {
  const auto dense = to_dense(stack_behind());
  EXPECT_THAT(dense.batch_size(), ElementsAre(2, 2));
  EXPECT_TRUE(dense.get("a").tensor().equal(at::tensor({1, 10, 2, 11}, at::kLong).view({2, 2})));
  EXPECT_THROW(to_dense(LazyStackedTensorDict({member(1, 2), member(1, 3)})), c10::Error);
}

TEST(Stack, KeepsLazyStacksOfOneFormLazy) {
  const LazyStackedTensorDict row({member(1, 2), member(1, 3)});
  const auto stacked = stack({row, row, row});
  const auto* lazy = stacked->as<LazyStackedTensorDict>();
  ASSERT_NE(lazy, nullptr);
  EXPECT_EQ(lazy->stack_dim(), 1);
  EXPECT_THAT(lazy->batch_size(), ElementsAre(3, 2));
  EXPECT_THAT(testing::plain(lazy->members()[1]).get("a").tensor().sizes(), ElementsAre(3, 3));
}

TEST(Stack, MakesRowsOfDifferentKindsDense) {
  TensorDict dense({2});
  dense.set("a", testing::ramp(5, 4).view({2, 2}));
  const auto stacked =
      testing::plain(stack({dense, LazyStackedTensorDict({member(1), member(3)})}));
  EXPECT_TRUE(stacked.get("a").tensor()[0].equal(testing::ramp(5, 4).view({2, 2})));
  EXPECT_TRUE(stacked.get("a").tensor()[1].equal(testing::ramp(1, 4).view({2, 2})));
}

TEST(UpdateInPlace, WritesIntoTheMembersOfALazyStack) {
  const auto first = member(0);
  const auto second = member(0);
  LazyStackedTensorDict target({first, second});
  TensorDict dense({2});
  dense.set("a", testing::ramp(1, 4).view({2, 2}));
  target.update_in_place(dense);
  EXPECT_TRUE(first.get("a").tensor().equal(testing::ramp(1, 2)));
  EXPECT_TRUE(second.get("a").tensor().equal(testing::ramp(3, 2)));
}

TEST(UpdateInPlace, WritesALazyStackAlongAnotherDimension) {
  const auto first = testing::poisoned_sample();
  LazyStackedTensorDict target({first, testing::poisoned_sample()}, 0);
  target.update_in_place(stack_behind());
  EXPECT_TRUE(first.get("a").tensor().equal(at::tensor({1, 10}, at::kLong)));
}

TEST(UpdateInPlace, WritesALazyStackIntoADenseTensordict) {
  TensorDict target({2});
  target.set("a", at::zeros({2, 2}));
  target.update_in_place(LazyStackedTensorDict({member(1), member(3)}));
  EXPECT_TRUE(target.get("a").tensor().equal(testing::ramp(1, 4).view({2, 2})));
}

TEST(UpdateInPlace, WritesNothingWhenOneMemberDoesNotFit) {
  const auto first = member(0);
  LazyStackedTensorDict target({first, member(0)});
  for (const auto& source : {LazyStackedTensorDict({member(1), member(1, 3)}),
                             LazyStackedTensorDict({member(1), member(1), member(1)})}) {
    EXPECT_THROW(target.update_in_place(source), c10::Error);
    EXPECT_TRUE(first.get("a").tensor().equal(testing::ramp(0, 2)));
  }
  EXPECT_THROW(target.update_in_place(TensorDict()), c10::Error);
}

TEST(Consolidate, KeepsALazyStackAndPutsItsMembersOneAfterTheOther) {
  const LazyStackedTensorDict stack({member(1, 2), member(5, 1)});
  const auto consolidated = consolidate(stack);
  EXPECT_TRUE(testing::same(consolidated, stack));
  EXPECT_TRUE(consolidated.is_locked());
  EXPECT_TRUE(consolidated.consolidated().storage.equal(
      at::cat({testing::ramp(1, 2), testing::ramp(5, 1), at::zeros({1})}).view(at::kByte)));
}

TEST(SendRecv, CarryALazyStackIntoOneInPlace) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      send(world, LazyStackedTensorDict({member(1, 2), member(5, 3)}), {.dst = 1});
      return;
    }
    const auto first = member(0, 2);
    const auto second = member(0, 3);
    LazyStackedTensorDict td({first, second});
    EXPECT_EQ(recv(world, td, {.src = 0}), 1);
    EXPECT_TRUE(first.get("a").tensor().equal(testing::ramp(1, 2)));
    EXPECT_TRUE(second.get("a").tensor().equal(testing::ramp(5, 3)));
  });
}

}  // namespace
}  // namespace tdref
