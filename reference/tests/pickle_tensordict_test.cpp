// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include "trees.h"

namespace tdref {
namespace {

TensorDict everything() {
  TensorDict nested({2});
  nested.set("empty", at::zeros({2, 0}));
  nested.set("stack", NonTensor{Value::List{"x", 2}, true});
  TensorDict td({2}, at::kCPU);
  td.set_names({"time"});
  td.set("grad", testing::ramp(1, 2).set_requires_grad(true));
  td.set("parameter", Leaf{testing::ramp(3, 2).set_requires_grad(true), kParameter});
  td.set("frozen", Leaf{testing::ramp(5, 2), kParameter});
  td.set("n", nested);
  td.set("text", NonTensor{"text"});
  td.set("transposed", testing::ramp(0, 6).view({3, 2}).t());
  return td;
}

TEST(PickleTensordict, RoundTrips) {
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(everything())), everything()));
}

TensorDict of_every_kind() {
  TensorDict td({2});
  td.set("lazy", LazyStackedTensorDict({testing::sample(1), TensorDict({2})}, 1, "space"));
  td.set("jagged",
         Jagged{.values = testing::ramp(0, 8).view({4, 2}),
                .offsets = at::tensor({0, 1, 4}, at::kLong)});
  td.set("holes",
         Jagged{.values = testing::ramp(0, 8).view({2, 4}),
                .offsets = at::tensor({0, 2, 4}, at::kLong),
                .lengths = at::tensor({1, 2}, at::kLong),
                .ragged_idx = 2});
  td.set("class", Leaf{testing::ramp(1, 2), {"my.module", "Outer.MyTensor"}});
  td.set("graded", Leaf{testing::ramp(1, 2).set_requires_grad(true), {"my.module", "MyTensor"}});
  td.set("u16", Leaf{at::ones({2}, at::kUInt16), {"my.module", "MyTensor"}});
  return td;
}

TEST(PickleTensordict, RoundTripsEveryKindOfLeafAndTensordict) {
  EXPECT_TRUE(
      testing::same(*unpickle_tensordict(pickle_tensordict(of_every_kind())), of_every_kind()));
}

TEST(PickleTensordict, KeepsTheLockOfALazyStack) {
  LazyStackedTensorDict stack({testing::sample(1), testing::sample(2)});
  EXPECT_FALSE(unpickle_tensordict(pickle_tensordict(stack))->is_locked());
  stack.lock();
  EXPECT_TRUE(unpickle_tensordict(pickle_tensordict(stack))->is_locked());
}

TEST(UnpickleTensordict, RejectsJaggedRowsOutsideTheirValues) {
  TensorDict td({2});
  td.set("j", Jagged{.values = testing::ramp(0, 4), .offsets = at::tensor({0, 1, 5}, at::kLong)});
  EXPECT_THROW(unpickle_tensordict(pickle_tensordict(td)), c10::ValueError);
}

TEST(UnpickleTensordict, RejectsClassesWithEndlessNames) {
  TensorDict td;
  td.set("a", Leaf{at::zeros({1}), {"m", std::string(250, 'x')}});
  EXPECT_NO_THROW(unpickle_tensordict(pickle_tensordict(td)));
  td.set("a", Leaf{at::zeros({1}), {"m", std::string(255, 'x')}});
  EXPECT_THROW(unpickle_tensordict(pickle_tensordict(td)), c10::ValueError);
}

TEST(PickleTensordict, KeepsTheLock) {
  auto td = everything();
  td.lock();
  EXPECT_TRUE(unpickle_tensordict(pickle_tensordict(td))->is_locked());
}

TEST(PickleTensordict, KeepsWhetherItIsConsolidated) {
  const auto td = consolidate(testing::sample(1));
  const auto copy = unpickle_tensordict(pickle_tensordict(td));
  EXPECT_TRUE(copy->is_consolidated());
  EXPECT_TRUE(copy->consolidated().storage.equal(td.consolidated().storage));
}

TEST(PickleTensordict, ConsolidatedButWithoutANameForItsDtypeIsPickledByLeaves) {
  TensorDict td;
  td.set("a", at::ones({3}).to(at::kFloat8_e5m2));
  const auto copy = unpickle_tensordict(pickle_tensordict(consolidate(td)));
  EXPECT_FALSE(copy->is_consolidated());
  EXPECT_TRUE(testing::same(*copy, td));
}

class PickledDtype : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(PickledDtype, RoundTrips) {
  TensorDict td;
  td.set("a",
         at::arange(48, at::kByte).view(GetParam() == at::kBool ? at::kByte : GetParam()).clone());
  td.set("scalar", at::zeros({}, GetParam()));
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(td)), td));
}

INSTANTIATE_TEST_SUITE_P(PickleTensordict,
                         PickledDtype,
                         ::testing::Values(at::kBool,
                                           at::kByte,
                                           at::kChar,
                                           at::kShort,
                                           at::kInt,
                                           at::kLong,
                                           at::kHalf,
                                           at::kBFloat16,
                                           at::kFloat,
                                           at::kDouble,
                                           at::kComplexHalf,
                                           at::kComplexFloat,
                                           at::kComplexDouble,
                                           at::kUInt16,
                                           at::kUInt32,
                                           at::kUInt64,
                                           at::kFloat8_e4m3fn,
                                           at::kFloat8_e5m2),
                         [](const auto& test) { return std::string(c10::toString(test.param)); });

TEST(PickleTensordict, KeepsSparseAndMetaLeaves) {
  TensorDict td;
  td.set("sparse", at::eye(3).to_sparse());
  td.set("meta", at::empty({2, 3}, at::device(at::kMeta).dtype(at::kHalf)));
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(td)), td));
}

TEST(PickleTensordict, RefusesLeavesWithoutAPickledForm) {
  TensorDict td;
  td.set("a", at::eye(2).to_sparse_csr());
  EXPECT_THROW(pickle_tensordict(td), c10::NotImplementedError);
}

TEST(UnpickleTensordict, RejectsEveryPrefix) {
  const auto whole = pickle_tensordict(everything());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(unpickle_tensordict(std::string_view(whole).substr(0, length)), c10::ValueError)
        << length;
  }
}

TEST(UnpickleTensordict, SurvivesEveryChangedByte) {
  for (const auto& td : {everything(), of_every_kind(), consolidate(testing::sample(1))}) {
    const auto whole = pickle_tensordict(td);
    for (std::size_t place = 0; place < whole.size(); ++place) {
      for (const int change : {1, 16, 128, 255}) {
        auto changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ change);
        try {
          unpickle_tensordict(changed);
        } catch (const c10::ValueError&) {
        }
      }
    }
  }
}

TEST(UnpickleTensordict, RejectsAnythingElse) {
  EXPECT_THROW(unpickle_tensordict(pickle_value(Value::Dict{})), c10::ValueError);
  EXPECT_THROW(unpickle_tensordict(pickle_value("text")), c10::ValueError);
}

}  // namespace
}  // namespace tdref
