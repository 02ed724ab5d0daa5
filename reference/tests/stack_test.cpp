// SPDX-License-Identifier: BSD-3-Clause
#include "tree/stack.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

TensorDict row(float value, const char* text) {
  TensorDict nested;
  nested.set("x", at::full({2}, value));
  TensorDict td;
  td.set("n", nested);
  td.set("s", NonTensor{text});
  return td;
}

TEST(Stack, MakesOneRowOfEach) {
  const auto stacked = testing::plain(stack({row(1, "one"), row(2, "two")}));
  EXPECT_THAT(stacked.batch_size(), ElementsAre(2));
  EXPECT_TRUE(stacked.get(KeyPath{"n", "x"})
                  .tensor()
                  .equal(at::tensor({1., 1., 2., 2.}, at::kFloat).view({2, 2})));
  EXPECT_EQ(*stacked.get("s").non_tensor(), (NonTensor{Value::List{"one", "two"}, true}));
}

TEST(Stack, TakesTheRowsInTheirOwnKeyOrder) {
  TensorDict first;
  first.set("a", at::zeros({}));
  first.set("b", at::ones({}));
  TensorDict second;
  second.set("b", at::ones({}));
  second.set("a", at::zeros({}));
  const auto stacked = testing::plain(stack({first, second}));
  EXPECT_TRUE(stacked.get("b").tensor().equal(at::ones({2})));
}

TEST(Stack, RejectsRowsThatDiffer) {
  TensorDict plain;
  plain.set("a", at::zeros({2}));
  TensorDict other_key;
  other_key.set("b", at::zeros({2}));
  TensorDict other_shape;
  other_shape.set("a", at::zeros({3}));
  TensorDict other_dtype;
  other_dtype.set("a", at::zeros({2}, at::kLong));
  TensorDict other_kind;
  other_kind.set("a", TensorDict());
  TensorDict other_batch({2});
  other_batch.set("a", at::zeros({2}));
  for (const auto& other :
       {other_key, other_shape, other_dtype, other_kind, other_batch, TensorDict()}) {
    EXPECT_THROW(stack({plain, other}), c10::Error);
  }
  EXPECT_THROW(stack({}), c10::Error);
}

}  // namespace
}  // namespace tdref
