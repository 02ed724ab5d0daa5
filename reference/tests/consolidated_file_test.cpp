// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/consolidated_file.h>
#include <tdref/errors.h>

#include "files.h"
#include "trees.h"

namespace tdref {
namespace {

class ConsolidatedFile : public testing::WithFolder {};

TEST_F(ConsolidatedFile, IsReadAsItWasWritten) {
  const auto td = testing::sample(1);
  const auto written = consolidate(td, {.filename = place("td")});
  EXPECT_TRUE(testing::same(*written, *consolidate(static_cast<const TensorDictBase&>(td))));
  EXPECT_TRUE(written->is_consolidated());
  const auto read = from_consolidated(place("td"));
  EXPECT_TRUE(read->is_consolidated());
  EXPECT_TRUE(read->is_locked());
  EXPECT_TRUE(testing::same(*read, *written));
}

TEST_F(ConsolidatedFile, IsTheMemoryOfTheLeaves) {
  const auto written = consolidate(testing::sample(1), {.filename = place("td")});
  const auto a = testing::plain(written).get("a").tensor();
  EXPECT_EQ(testing::file_behind(a), place("td"));
  const auto before = from_consolidated(place("td"));
  a.fill_(9);
  EXPECT_TRUE(testing::plain(from_consolidated(place("td"))).get("a").tensor().equal(a));
  EXPECT_TRUE(testing::plain(before).get("a").tensor().equal(a));
}

TEST_F(ConsolidatedFile, IsNotWrittenByWhoeverReadsIt) {
  consolidate(testing::sample(1), {.filename = place("td")});
  const auto content = testing::content_of(place("td"));
  const auto a = testing::plain(from_consolidated(place("td"))).get("a").tensor();
  a.fill_(9);
  EXPECT_EQ(testing::content_of(place("td")), content);
}

TEST_F(ConsolidatedFile, StaysAsItWasForWhoeverMapsItWhenItIsReplaced) {
  const auto first = consolidate(testing::sample(1), {.filename = place("td")});
  consolidate(*first, {.filename = place("td")});  // from its own leaves
  EXPECT_TRUE(testing::same(*from_consolidated(place("td")), *first));
  consolidate(testing::sample(5), {.filename = place("td")});
  EXPECT_TRUE(testing::plain(first).get("b").tensor().equal(testing::sample(1).get("b").tensor()));
  EXPECT_THAT(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

TEST_F(ConsolidatedFile, KeepsTheClassOfARootInMemoryAlone) {
  TensorDict fields({2});
  fields.set("a", testing::ramp(1, 2));
  const auto written =
      consolidate(TensorClass({"package", "Pair"}, fields), {.filename = place("td")});
  EXPECT_NE(written->as<TensorClass>(), nullptr);
  EXPECT_NE(from_consolidated(place("td"))->as<TensorDict>(), nullptr);
}

TEST_F(ConsolidatedFile, CannotBeWrittenWhereThereIsNoFolder) {
  EXPECT_THROW(consolidate(testing::sample(1), {.filename = place("no/td")}), OSError);
  EXPECT_THROW(consolidate(testing::sample(1), {.filename = place("")}), OSError);
  EXPECT_THROW(consolidate(testing::sample(1), {.filename = ""}), OSError);
  EXPECT_THROW(from_consolidated(place("td")), OSError);
}

TEST_F(ConsolidatedFile, IsNotBegunForDataThatItCannotHold) {
  auto td = testing::sample(1);
  td.set("s", NonTensor{Value::Bytes{"x"}});
  EXPECT_THROW(consolidate(td, {.filename = place("td")}), c10::TypeError);
  TensorDict deep;
  for (int i = 0; i < 501; ++i) {
    TensorDict outer;
    outer.set("n", std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_THROW(consolidate(deep, {.filename = place("td")}), c10::ValueError);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

}  // namespace
}  // namespace tdref
