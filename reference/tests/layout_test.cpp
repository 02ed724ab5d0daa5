// SPDX-License-Identifier: BSD-3-Clause
#include "codec/layout.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

namespace tdref {
namespace {

using ::testing::ElementsAre;

TEST(Layout, PadsEachLeafToEightBytesInInsertionOrderDepthFirst) {
  TensorDict nested;
  nested.set("b", at::zeros({3}, at::kFloat));
  nested.set("e", at::zeros({0}, at::kFloat));
  TensorDict td;
  td.set("z", at::zeros({3}, at::kByte));
  td.set("n", nested);
  td.set("c", at::zeros({}, at::kBool));
  const auto layout = lay_out(td);
  EXPECT_THAT(layout.spans,
              ElementsAre(Span{0, 8, 5}, Span{8, 24, 4}, Span{24, 24, 0}, Span{24, 32, 7}));
  EXPECT_EQ(layout.total_bytes, 32);
}

TEST(Layout, PadsNothingToAMultipleOfEight) {
  EXPECT_EQ(span_of(16, 8), (Span{16, 24, 0}));
  EXPECT_EQ(span_of(16, 1), (Span{16, 24, 7}));
  EXPECT_EQ(span_of(16, 0), (Span{16, 16, 0}));
}

TEST(Layout, RejectsLeavesWithoutElementsInMemory) {
  for (const auto& tensor : {at::eye(2).to_sparse(), at::empty({2}, at::kMeta)}) {
    TensorDict td;
    td.set("a", tensor);
    EXPECT_THROW(lay_out(td), c10::NotImplementedError);
  }
}

TEST(Layout, RejectsLeavesThatWouldNotBeAligned) {
  TensorDict td;
  td.set("first", at::zeros({1}, at::kComplexDouble));
  td.set("eight bytes", at::zeros({1}, at::kDouble));
  EXPECT_NO_THROW(check_aligned(td, lay_out(td)));
  td.set("last", at::zeros({1}, at::kComplexDouble));
  EXPECT_THROW(check_aligned(td, lay_out(td)), c10::NotImplementedError);
}

TEST(ViewSpan, SharesTheMemoryOfTheStorage) {
  const auto storage = at::zeros({16}, at::kByte);
  view_span(storage, {8, 16, 5}, at::kByte, {3, 1}).fill_(7);
  const auto place = at::arange(16);
  EXPECT_TRUE(storage.eq(7).equal(place.ge(8).logical_and(place.lt(11))));
}

}  // namespace
}  // namespace tdref
