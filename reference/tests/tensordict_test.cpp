// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/errors.h>
#include <tdref/tensordict.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TensorDict, KeepsInsertionOrder) {
  auto td = testing::sample(1);
  EXPECT_THAT(td.keys(), ElementsAre("b", "a", "n"));
  td.set("b", at::zeros({2}));
  EXPECT_THAT(td.keys(), ElementsAre("b", "a", "n"));
}

TEST(TensorDict, SortsKeysByCodePoint) {
  TensorDict td;
  for (const char* key : {"a0", "a", "é", "B", "_", "~"}) {
    td.set(key, at::zeros({}));
  }
  std::vector<std::string> sorted;
  for (const Item* item : td.sorted_items()) {
    sorted.push_back(item->key);
  }
  EXPECT_THAT(sorted, ElementsAre("B", "_", "a", "a0", "~", "é"));
}

TEST(TensorDict, RejectsShapesThatDoNotBeginWithTheBatchSize) {
  TensorDict td({2, 3});
  td.set("fits", at::zeros({2, 3, 4}));
  EXPECT_THROW(td.set("short", at::zeros({2})), c10::Error);
  EXPECT_THROW(td.set("other", at::zeros({2, 4, 3})), c10::Error);
  EXPECT_THROW(td.set("nested", TensorDict({2})), c10::Error);
  EXPECT_THROW(td.set("stack", NonTensor{Value::List{1}, true}), c10::Error);
  EXPECT_THAT(td.keys(), ElementsAre("fits"));
}

TEST(TensorDict, RejectsJaggedTensorsWhosePartsDoNotGoTogether) {
  TensorDict td({2});
  const Jagged good{.values = at::zeros({3}), .offsets = at::tensor({0, 1, 3})};
  td.set("j", good);
  Jagged lengths = good;
  lengths.lengths = at::tensor({1});
  Jagged dimension = good;
  dimension.ragged_idx = 2;
  Jagged fractions = good;
  fractions.offsets = at::tensor({0., 1., 3.});
  for (const auto& jagged : {Jagged{}, lengths, dimension, fractions}) {
    EXPECT_THROW(td.set("j", jagged), c10::ValueError);
  }
  EXPECT_TRUE(td.get("j").jagged()->values.is_same(good.values));
}

TEST(TensorDict, RejectsNegativeBatchSizes) {
  EXPECT_THROW(TensorDict({2, -1}), c10::ValueError);
}

TEST(TensorDict, RejectsNamesOfAnotherNumber) {
  TensorDict td({2});
  EXPECT_THROW(td.set_names({"time", "space"}), c10::ValueError);
  td.set_names({"time"});
  EXPECT_THAT(td.names(), ElementsAre(std::optional<std::string>("time")));
}

TEST(TensorDict, CopiesHaveTheirOwnKeysAndShareTensors) {
  const auto td = testing::sample(1);
  auto copy = td;
  copy.get("a").tensor().fill_(7);
  copy.erase("b");
  copy.edit_nested("n").set("d", at::zeros({2}));
  EXPECT_EQ(td.get("a").tensor()[0].item<int>(), 7);
  EXPECT_THAT(td.keys(), ElementsAre("b", "a", "n"));
  EXPECT_THAT(td.get("n").nested()->as<TensorDict>()->keys(), ElementsAre("c"));
}

TEST(TensorDict, FindsNestedEntriesByPath) {
  const auto td = testing::sample(1);
  EXPECT_EQ(td.get(KeyPath{"n", "c"}).tensor().scalar_type(), at::kBool);
  EXPECT_THROW(td.get(KeyPath{"n", "d"}), KeyError);
  EXPECT_THROW(td.get(KeyPath{"a", "c"}), KeyError);
  EXPECT_THROW(td.get(KeyPath{}), c10::ValueError);
}

TEST(TensorDict, ErasingKeepsTheOtherKeysReachable) {
  auto td = testing::sample(1);
  td.erase("b");
  EXPECT_FALSE(td.contains("b"));
  EXPECT_EQ(td.get("a").tensor().scalar_type(), at::kLong);
  EXPECT_NE(td.get("n").nested(), nullptr);
  EXPECT_THROW(td.erase("b"), KeyError);
  EXPECT_THROW(td.get("b"), KeyError);
}

TEST(TensorDict, LockForbidsChangesHereAndBelowButNotWritingElements) {
  auto td = testing::sample(1);
  td.lock();
  EXPECT_TRUE(td.get("n").nested()->is_locked());
  EXPECT_THROW(td.set("x", at::zeros({2})), c10::Error);
  EXPECT_THROW(td.set("a", at::zeros({2})), c10::Error);
  EXPECT_THROW(td.erase("a"), c10::Error);
  EXPECT_THROW(td.edit_nested("n"), c10::Error);
  td.get("a").tensor().fill_(5);
  td.unlock();
  td.set("x", at::zeros({2}));
  EXPECT_THAT(td.keys(), ElementsAre("b", "a", "n", "x"));
}

TEST(TensorDict, HasNoNamesUntilTheyAreGiven) {
  EXPECT_THAT(TensorDict({2}).names(), IsEmpty());
}

TEST(TensorDict, WithoutConsolidatedStorageSaysSo) {
  EXPECT_THROW(testing::sample(1).consolidated(), AttributeError);
}

}  // namespace
}  // namespace tdref
