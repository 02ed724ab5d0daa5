// SPDX-License-Identifier: BSD-3-Clause
#include "ops/write_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tree/description.h"
#include "tree/stack.h"

namespace tdref {
namespace {

// Row r: b = [10 r, 10 r + 1], n/a = [[r, r]].
TensorDict row(int r) {
  TensorDict nested({2});
  nested.set("a", at::full({2, 1}, r, at::kFloat));
  TensorDict td({2});
  td.set("b", at::tensor({10 * r, 10 * r + 1}));
  td.set("n", std::move(nested));
  return td;
}

TensorDict target() {
  TensorDict nested({2, 2});
  nested.set("a", at::full({2, 2, 1}, -1, at::kFloat));
  TensorDict td({2, 2});
  td.set("n", std::move(nested));
  td.set("b", at::full({2, 2}, -1, at::kInt));
  td.set("more", at::full({2, 2}, -1));
  return td;
}

bool is_untouched(const TensorDict& td) {
  return td.get("b").tensor().eq(-1).all().item<bool>() &&
         td.get(KeyPath{"n", "a"}).tensor().eq(-1).all().item<bool>();
}

TEST(WritePlainRows, WritesWhatTheStackHolds) {
  auto td = target();
  const auto memory = td.get("b").tensor().const_data_ptr();
  td.lock();
  ASSERT_TRUE(write_plain_rows(td, {row(1), row(2)}));
  EXPECT_TRUE(td.get("b").tensor().equal(at::tensor({10, 11, 20, 21}).view({2, 2})));
  EXPECT_TRUE(td.get(KeyPath{"n", "a"})
                  .tensor()
                  .equal(at::tensor({1, 1, 2, 2}).to(at::kFloat).view({2, 2, 1})));
  EXPECT_TRUE(td.get("more").tensor().eq(-1).all().item<bool>());
  EXPECT_EQ(td.get("b").tensor().const_data_ptr(), memory);
}

struct Misfit {
  const char* name;
  void (*change)(TensorDict& second_row);
};

class WritePlainRowsRefuses : public ::testing::TestWithParam<Misfit> {};

INSTANTIATE_TEST_SUITE_P(
    Rows,
    WritePlainRowsRefuses,
    ::testing::Values(
        Misfit{"AnotherDtype", [](TensorDict& td) { td.set("b", at::zeros({2}, at::kLong)); }},
        Misfit{"AnotherShape",
               [](TensorDict& td) {
                 td.set("b", at::zeros({2, 1}, at::kInt));
               }},
        Misfit{"AnotherKey",
               [](TensorDict& td) {
                 td.erase("b");
                 td.set("c", at::zeros({2}, at::kInt));
               }},
        Misfit{"OneKeyMore", [](TensorDict& td) { td.set("c", at::zeros({2}, at::kInt)); }},
        Misfit{"NoTensorDict", [](TensorDict& td) { td.set("n", at::zeros({2})); }},
        Misfit{"OtherStrides",
               [](TensorDict& td) {
                 td.edit_nested("n").set("a", at::zeros({4, 1}).slice(0, 0, 4, 2));
               }},
        Misfit{"NonTensor", [](TensorDict& td) { td.set("b", NonTensor{Value("text")}); }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(WritePlainRowsRefuses, AndWritesNothing) {
  auto td = target();
  auto second = row(2);
  GetParam().change(second);
  EXPECT_FALSE(write_plain_rows(td, {row(1), second}));
  EXPECT_TRUE(is_untouched(td));
}

TEST(WritePlainRows, LeavesAnotherNumberOfRowsToTheStack) {
  auto td = target();
  EXPECT_FALSE(write_plain_rows(td, {row(1)}));
  EXPECT_FALSE(write_plain_rows(td, {}));
  EXPECT_TRUE(is_untouched(td));
}

// The vector that XXH3 publishes for the empty input: the digest is the same on every machine.
TEST(Description, HasADigestOfItsText) {
  EXPECT_EQ(digest_of(""), (Digest{0x99aa06d3014798d8U, 0x6001c324468d497fU}));
  EXPECT_EQ(digest_of("a leaf"), Description("a leaf").digest());
  EXPECT_NE(digest_of("a leaf"), digest_of("a leaf "));
}

}  // namespace
}  // namespace tdref
