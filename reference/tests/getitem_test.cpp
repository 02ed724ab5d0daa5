// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/getitem.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

// float32[3, 2, 2] from 0 on, and the same below a key, with names.
TensorDict rows() {
  TensorDict nested({3, 2});
  nested.set("b", testing::ramp(0, 6).view({3, 2}));
  TensorDict td({3, 2});
  td.set_names({"row", "column"});
  td.set("a", testing::ramp(0, 12).view({3, 2, 2}));
  td.set("n", std::move(nested));
  td.set("s", NonTensor{"text"});
  return td;
}

at::Tensor leaf_of(const AnyTensorDict& td, const KeyPath& path) {
  return testing::plain(td).get(path).tensor();
}

TEST(GetItem, ARowTakesItsDimensionAway) {
  const auto row = getitem(rows(), {1});
  EXPECT_THAT(row->batch_size(), ElementsAre(2));
  EXPECT_THAT(testing::plain(row).names(), ElementsAre(std::optional<std::string>("column")));
  EXPECT_TRUE(leaf_of(row, {"a"}).equal(testing::ramp(4, 4).view({2, 2})));
  EXPECT_TRUE(leaf_of(row, {"n", "b"}).equal(testing::ramp(2, 2)));
  EXPECT_EQ(*testing::plain(row).get("s").non_tensor(), NonTensor{"text"});
}

TEST(GetItem, ASliceKeepsItsDimension) {
  const auto part = getitem(rows(), {Slice{1, 3}, 1});
  EXPECT_THAT(part->batch_size(), ElementsAre(2));
  EXPECT_THAT(testing::plain(part).names(), ElementsAre(std::optional<std::string>("row")));
  EXPECT_TRUE(leaf_of(part, {"n", "b"}).equal(at::tensor({3., 5.}, at::kFloat)));
}

TEST(GetItem, OfAStackOfDataIsADatumOrAStackOfSome) {
  TensorDict td({3});
  td.set("t", NonTensor{Value::List{"x", "y", "z"}, true});
  const NonTensor some{Value::List{"y", "z"}, true};
  EXPECT_EQ(*testing::plain(getitem(td, {1})).get("t").non_tensor(), NonTensor{"y"});
  EXPECT_EQ(*testing::plain(getitem(td, {Slice{1, 3}})).get("t").non_tensor(), some);
}

TEST(GetItem, NegativeNumbersCountFromTheEndAndSlicesAreCut) {
  EXPECT_TRUE(leaf_of(getitem(rows(), {-1}), {"n", "b"}).equal(testing::ramp(4, 2)));
  EXPECT_THAT(getitem(rows(), {Slice{-2, 9}})->batch_size(), ElementsAre(2, 2));
  EXPECT_THAT(getitem(rows(), {Slice{2, 1}})->batch_size(), ElementsAre(0, 2));
}

TEST(GetItem, GivesViews) {
  const auto td = rows();
  leaf_of(getitem(td, {0, Slice{1, 2}}), {"n", "b"}).fill_(9);
  EXPECT_TRUE(td.get(KeyPath{"n", "b"})
                  .tensor()
                  .equal(at::tensor({0., 9., 2., 3., 4., 5.}, at::kFloat).view({3, 2})));
}

TEST(GetItem, OfATensorclassIsOneOfTheClass) {
  const TensorClass pair({"m", "Pair"}, testing::sample(1));
  const auto row = getitem(pair, {1});
  ASSERT_NE(row->as<TensorClass>(), nullptr);
  EXPECT_EQ(row->as<TensorClass>()->cls().name, "Pair");
  EXPECT_TRUE(
      row->as<TensorClass>()->contents().get("a").tensor().equal(at::scalar_tensor(2, at::kLong)));
}

// Two members of batch size [2], stacked in front.
LazyStackedTensorDict stack() {
  return LazyStackedTensorDict({testing::sample(1), testing::sample(10)});
}

TEST(GetItem, OfALazyStackIsAMemberOrAStackOfSome) {
  const auto td = stack();
  EXPECT_TRUE(testing::same(*getitem(td, {1}), testing::sample(10)));
  const auto part = getitem(td, {Slice{1, 2}});
  ASSERT_NE(part->as<LazyStackedTensorDict>(), nullptr);
  EXPECT_THAT(part->batch_size(), ElementsAre(1, 2));
  EXPECT_TRUE(testing::same(*part->as<LazyStackedTensorDict>()->members()[0], testing::sample(10)));
  EXPECT_THROW(getitem(td, {Slice{1, 1}}), c10::ValueError);
}

TEST(GetItem, OfALazyStackAlongAnotherDimensionIsOfEachMember) {
  const auto td = stack();
  const auto part = getitem(td, {Slice{0, 2}, Slice{1, 2}});
  const auto* members = part->as<LazyStackedTensorDict>();
  ASSERT_NE(members, nullptr);
  EXPECT_THAT(part->batch_size(), ElementsAre(2, 1));
  leaf_of(members->members()[1], {"a"}).fill_(7);
  EXPECT_TRUE(leaf_of(td.members()[1], {"a"}).equal(at::tensor({10, 7}, at::kLong)));
  const LazyStackedTensorDict behind({testing::sample(1), testing::sample(10)}, 1);
  const auto first = getitem(behind, {Slice{0, 1}});
  EXPECT_THAT(first->batch_size(), ElementsAre(1, 2));
  EXPECT_EQ(first->as<LazyStackedTensorDict>()->stack_dim(), 1);
}

TEST(GetItem, WhatIsNotThereIsAnIndexError) {
  EXPECT_THROW(getitem(rows(), {3}), c10::IndexError);
  EXPECT_THROW(getitem(rows(), {-4}), c10::IndexError);
  EXPECT_THROW(getitem(rows(), {0, 0, 0}), c10::IndexError);
  EXPECT_THROW(getitem(stack(), {2}), c10::IndexError);
}

}  // namespace
}  // namespace tdref
