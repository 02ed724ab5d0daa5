// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/tensordict.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

TEST(UpdateInPlace, WritesIntoTheTensorsThatAreThere) {
  auto td = testing::poisoned_sample();
  const auto a = td.get("a").tensor();
  td.update_in_place(testing::sample(10));
  EXPECT_TRUE(a.equal(at::tensor({10, 11}, at::kLong)));
  EXPECT_TRUE(td.get(KeyPath{"n", "c"}).tensor().equal(testing::false_true()));
  EXPECT_THAT(td.keys(), ElementsAre("n", "a", "b"));
}

TEST(UpdateInPlace, ConvertsToTheDtypeThatIsThere) {
  TensorDict td;
  td.set("a", at::zeros({2}, at::kInt));
  TensorDict source;
  source.set("a", at::tensor({1.5, 2.5}));
  td.update_in_place(source);
  EXPECT_TRUE(td.get("a").tensor().equal(at::tensor({1, 2}, at::kInt)));
}

TEST(UpdateInPlace, WritesThroughViewsAndTensorsThatRequireGradients) {
  const auto base = at::zeros({2, 2});
  TensorDict td;
  td.set("view", base.t());
  td.set("grad", at::zeros({1}).set_requires_grad(true));
  TensorDict source;
  source.set("view", at::tensor({1., 2., 3., 4.}, at::kFloat).view({2, 2}));
  source.set("grad", at::ones({1}));
  td.update_in_place(source);
  EXPECT_TRUE(base.equal(at::tensor({1., 3., 2., 4.}, at::kFloat).view({2, 2})));
  EXPECT_EQ(td.get("grad").tensor().item<float>(), 1);
  EXPECT_TRUE(td.get("grad").tensor().is_leaf());
}

TEST(UpdateInPlace, TakesASourceThatCountsMoreDimensionsAsBatch) {
  TensorDict td({1});
  td.set("a", at::zeros({1, 3}));
  TensorDict source({1, 3});
  source.set("a", at::ones({1, 3}));
  td.update_in_place(source);
  EXPECT_TRUE(td.get("a").tensor().equal(at::ones({1, 3})));
  EXPECT_THAT(td.batch_size(), ElementsAre(1));
}

TEST(UpdateInPlace, RefusesABatchDimensionThatDiffers) {
  TensorDict td({1, 3});
  TensorDict source({1, 2});
  EXPECT_THROW(td.update_in_place(source), c10::Error);
}

TEST(UpdateInPlace, KeepsAndAddsKeys) {
  TensorDict td;
  td.set("kept", at::ones({1}));
  td.set("n", TensorDict());
  TensorDict nested;
  nested.set("added", at::ones({1}));
  TensorDict source;
  source.set("n", nested);
  source.set("new", NonTensor{"text"});
  td.update_in_place(source);
  EXPECT_THAT(td.keys(), ElementsAre("kept", "n", "new"));
  EXPECT_TRUE(td.get("n").nested()->as<TensorDict>()->contains("added"));
}

TEST(UpdateInPlace, WritesNothingWhenOneEntryDoesNotFit) {
  TensorDict good;
  good.set("a", at::ones({2}));
  auto shape = good;
  shape.set("b", at::ones({3}));
  auto kind = good;
  kind.set("b", NonTensor{1});
  auto sparse = good;
  sparse.set("b", at::ones({2}).to_sparse());
  for (const auto& source : {shape, kind, sparse}) {
    TensorDict td;
    td.set("a", at::zeros({2}));
    td.set("b", at::zeros({2}));
    EXPECT_THROW(td.update_in_place(source), c10::Error);
    EXPECT_TRUE(td.get("a").tensor().equal(at::zeros({2})));
  }
}

TEST(UpdateInPlace, RejectsTensorsWhoseElementsShareMemory) {
  TensorDict td;
  td.set("a", at::zeros({1}).expand({2}));
  TensorDict source;
  source.set("a", at::ones({2}));
  EXPECT_THROW(td.update_in_place(source), c10::Error);
}

TEST(UpdateInPlace, WritesIntoALockedTensordictButAddsNothing) {
  TensorDict td;
  td.set("a", at::zeros({2}));
  td.set("s", NonTensor{"old"});
  td.lock();
  TensorDict source;
  source.set("a", at::ones({2}));
  source.set("s", NonTensor{"new"});
  td.update_in_place(source);
  EXPECT_TRUE(td.get("a").tensor().equal(at::ones({2})));
  EXPECT_EQ(td.get("s").non_tensor()->data, Value("new"));
  source.get("a").tensor().fill_(2);
  source.set("x", at::ones({2}));
  EXPECT_THROW(td.update_in_place(source), c10::Error);
  EXPECT_TRUE(td.get("a").tensor().equal(at::ones({2})));
}

}  // namespace
}  // namespace tdref
