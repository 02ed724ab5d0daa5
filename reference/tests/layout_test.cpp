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

TEST(ViewSpan, SharesMemoryAlsoWhereTheElementsAreWiderThanTheAlignment) {
  const auto storage = at::zeros({32}, at::kByte);
  for (const std::int64_t start : {0, 8}) {
    const auto view = view_span(storage, {start, start + 16, 0}, at::kComplexDouble, {1});
    view.fill_(c10::complex<double>(0, 0));
    EXPECT_EQ(view.data_ptr(), storage.narrow(0, start, 16).data_ptr());
    view.fill_(c10::complex<double>(1, 1));
  }
  EXPECT_EQ(storage.ne(0).sum().item<int>(), 2 * 3);
}

}  // namespace
}  // namespace tdref
