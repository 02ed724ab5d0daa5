// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/plan.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<KeyPath> keys_of(const std::vector<PlannedLeaf>& plan) {
  std::vector<KeyPath> keys;
  for (const auto& leaf : plan) {
    keys.push_back(leaf.key);
  }
  return keys;
}

std::vector<int> tags_of(const std::vector<PlannedLeaf>& plan) {
  std::vector<int> tags;
  for (const auto& leaf : plan) {
    tags.push_back(leaf.tag);
  }
  return tags;
}

TEST(PlanTransfer, VisitsSortedKeysAndNestedTensordictsInTheirPlace) {
  TensorDict nested;
  nested.set("z", at::zeros({1}));
  nested.set("y", at::zeros({1}));
  TensorDict td;
  td.set("a0", at::zeros({1}));
  td.set("a", nested);
  td.set("B", at::zeros({1}));
  EXPECT_THAT(keys_of(plan_transfer(td)),
              ElementsAre(KeyPath{"B"}, KeyPath{"a", "y"}, KeyPath{"a", "z"}, KeyPath{"a0"}));
}

TEST(PlanTransfer, GivesOneTagToEachTensorLeaf) {
  TensorDict td;
  td.set("d", at::zeros({1}));
  td.set("c", NonTensor{"text"});
  td.set("b", TensorDict());
  td.set("a", at::zeros({0}));
  const auto plan = plan_transfer(td, {.init_tag = 5});
  EXPECT_THAT(keys_of(plan), ElementsAre(KeyPath{"a"}, KeyPath{"d"}));
  EXPECT_THAT(tags_of(plan), ElementsAre(5, 6));
}

TEST(PlanTransfer, VisitsLazyStacksMemberByMemberWithOneCountOfTags) {
  TensorDict first;
  first.set("b", at::zeros({1}));
  first.set("a", at::zeros({1}));
  TensorDict second;
  second.set("c", at::zeros({5}));
  TensorDict td;
  td.set("z", at::zeros({1}));
  td.set("s", LazyStackedTensorDict({first, second}));
  const auto plan = plan_transfer(td, {.init_tag = 3});
  EXPECT_THAT(
      keys_of(plan),
      ElementsAre(
          KeyPath{"s", "0", "a"}, KeyPath{"s", "0", "b"}, KeyPath{"s", "1", "c"}, KeyPath{"z"}));
  EXPECT_THAT(tags_of(plan), ElementsAre(3, 4, 5, 6));
}

TEST(PlanTransfer, RefusesJaggedLeaves) {
  TensorDict td;
  td.set("j", Jagged{.values = at::zeros({3}), .offsets = at::tensor({0, 3})});
  EXPECT_THROW(plan_transfer(td), c10::NotImplementedError);
}

TEST(PlanTransfer, ChainsPseudoRandomTagsFromInitTag) {
  const auto plan = plan_transfer(testing::sample(1), {.init_tag = 1, .pseudo_rand = true});
  EXPECT_THAT(tags_of(plan), ElementsAre(1907, 3796, 8050));
}

TEST(PlanTransfer, EndsAtTheLargestTagThatPythonTakes) {
  constexpr std::int64_t kLargest = 2147483647;
  EXPECT_THAT(tags_of(plan_transfer(testing::sample(1), {.init_tag = kLargest - 2})),
              ElementsAre(kLargest - 2, kLargest - 1, kLargest));
  EXPECT_THROW(plan_transfer(testing::sample(1), {.init_tag = kLargest - 1}), c10::ValueError);
  EXPECT_THROW(plan_transfer(testing::sample(1), {.init_tag = std::int64_t{1} << 40}),
               c10::ValueError);
}

TEST(PlanTransfer, RejectsNegativeTags) {
  EXPECT_THROW(plan_transfer(testing::sample(1), {.init_tag = -1}), c10::ValueError);
  EXPECT_THROW(plan_transfer(testing::sample(1), {.init_tag = -1, .pseudo_rand = true}),
               c10::ValueError);
}

TEST(FirstTag, IsTheOneThatAPlanBeginsWith) {
  EXPECT_EQ(first_tag({.init_tag = 7}), 7);
  EXPECT_EQ(first_tag({.init_tag = 1, .pseudo_rand = true}), 1907);
  EXPECT_EQ(first_tag({.init_tag = 2147483647}), 2147483647);
  EXPECT_EQ(first_tag({.init_tag = 2147483648}), std::nullopt);
  EXPECT_EQ(first_tag({.init_tag = -1}), std::nullopt);
  EXPECT_EQ(first_tag({.init_tag = -1, .pseudo_rand = true}), std::nullopt);
}

TEST(LastTag, OfNoLeavesIsTheOneBeforeInitTag) {
  const TagOptions tags{.init_tag = 7};
  const auto plan = plan_transfer(TensorDict(), tags);
  EXPECT_THAT(plan, IsEmpty());
  EXPECT_EQ(last_tag(plan, tags), 6);
  EXPECT_EQ(last_tag(plan_transfer(testing::sample(1), tags), tags), 9);
}

}  // namespace
}  // namespace tdref
