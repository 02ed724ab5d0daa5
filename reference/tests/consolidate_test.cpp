// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/errors.h>

#include "trees.h"

namespace tdref {
namespace {

TEST(Consolidate, LeavesAreViewsOfOneStorage) {
  const auto td = consolidate(testing::sample(1));
  const auto& storage = td.consolidated().storage;
  EXPECT_EQ(storage.numel(), 24 + 16 + 8);
  EXPECT_EQ(td.get("b").tensor().data_ptr(), storage.data_ptr());
  EXPECT_EQ(td.get("a").tensor().data_ptr(), storage.narrow(0, 24, 1).data_ptr());
  td.get("a").tensor().fill_(0x0101);
  EXPECT_EQ(storage[24].item<int>(), 1);
  EXPECT_EQ(storage[25].item<int>(), 1);
}

TEST(Consolidate, KeepsWhatTheTensordictHolds) {
  auto td = testing::sample(1);
  td.set("s", NonTensor{Value::Dict{{"k", 1}}});
  td.set_names({"time"});
  EXPECT_TRUE(testing::same(consolidate(td), td));
}

TEST(Consolidate, PadsWithZeros) {
  TensorDict td;
  td.set("a", at::full({3}, 255, at::kByte));
  EXPECT_TRUE(consolidate(td).consolidated().storage.equal(
      at::tensor({255, 255, 255, 0, 0, 0, 0, 0}, at::kByte)));
}

TEST(Consolidate, CopiesRowMajorElementsOfViews) {
  TensorDict td;
  td.set("transposed", at::arange(6, at::kByte).view({2, 3}).t());
  td.set("expanded", at::full({1}, 9, at::kByte).expand({2}));
  td.set("conjugated", at::complex(at::ones({1}), at::ones({1})).conj());
  const auto storage = consolidate(td).consolidated().storage;
  EXPECT_TRUE(storage.narrow(0, 0, 6).equal(at::tensor({0, 3, 1, 4, 2, 5}, at::kByte)));
  EXPECT_TRUE(storage.narrow(0, 8, 2).equal(at::tensor({9, 9}, at::kByte)));
  EXPECT_TRUE(storage.narrow(0, 16, 8).view(at::kFloat).equal(at::tensor({1., -1.}, at::kFloat)));
}

TEST(Consolidate, LocksAndUnlockingEndsIt) {
  auto td = consolidate(testing::sample(1));
  EXPECT_TRUE(td.is_locked());
  EXPECT_FALSE(td.consolidated().was_locked);
  td.unlock();
  EXPECT_FALSE(td.is_consolidated());
}

TEST(Consolidate, ReturnsAConsolidatedOneAsItIs) {
  const auto td = consolidate(testing::sample(1));
  EXPECT_TRUE(consolidate(td).consolidated().storage.is_same(td.consolidated().storage));
}

TEST(Consolidate, HoldsNoHistory) {
  TensorDict td;
  td.set("a", at::ones({2}).set_requires_grad(true));
  EXPECT_FALSE(consolidate(td).get("a").tensor().requires_grad());
}

TEST(Consolidate, OfAnEmptyTensordictHasNoBytes) {
  EXPECT_EQ(consolidate(TensorDict({3})).consolidated().storage.numel(), 0);
}

TEST(Consolidate, TakesOneElementWhateverItsStride) {
  TensorDict td;
  td.set("one", at::arange(2, at::kFloat).slice(0, 1, 2, 2));
  td.set("none", at::empty_strided({0}, {7}, at::kShort));
  td.set("row", at::arange(4, at::kShort).view({2, 2}).select(1, 1).slice(0, 0, 1));
  const auto whole = consolidate(td);
  EXPECT_TRUE(whole.get("one").tensor().equal(at::ones({1})));
  EXPECT_TRUE(whole.get("row").tensor().equal(at::ones({1}, at::kShort)));
  EXPECT_EQ(whole.consolidated().storage.numel(), 16);
}

}  // namespace
}  // namespace tdref
