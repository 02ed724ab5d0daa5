// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/errors.h>
#include <tdref/memmap.h>

#include "codec/memmap_format.h"
#include "files.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

class Memmap : public testing::WithFolder {};

at::Tensor leaf_of(const AnyTensorDict& td, const std::string& key) {
  return testing::plain(td).get(key).tensor();
}

TEST_F(Memmap, MapsEachLeafToAFile) {
  const auto td = testing::sample(1);
  const auto mapped = memmap(td, {.prefix = place("td")});
  EXPECT_TRUE(mapped->is_locked());
  EXPECT_EQ(mapped->device(), at::Device(at::kCPU));
  EXPECT_THAT(testing::plain(mapped).keys(), ElementsAre("b", "a", "n"));
  for (const auto* key : {"a", "b"}) {
    EXPECT_TRUE(leaf_of(mapped, key).equal(td.get(key).tensor()));
    EXPECT_EQ(testing::plain(mapped).get(key).leaf()->cls, kMemoryMappedTensor);
    EXPECT_EQ(testing::file_behind(leaf_of(mapped, key)),
              place("td/") + key + std::string(".memmap"));
  }
  EXPECT_FALSE(load_memmap(place("td"))->is_locked());
}

TEST_F(Memmap, ReachesTheFilesUnlessTheyAreOpenedForReading) {
  const auto written = leaf_of(memmap(testing::sample(1), {.prefix = place("td")}), "a");
  const auto read = leaf_of(load_memmap(place("td"), {.mode = "r"}), "a");
  written.fill_(5);
  EXPECT_TRUE(leaf_of(load_memmap(place("td")), "a").equal(written));
  read.fill_(7);
  EXPECT_TRUE(leaf_of(load_memmap(place("td"), {.mode = "r+"}), "a").equal(written));
  EXPECT_THROW(load_memmap(place("td"), {.mode = "w"}), c10::ValueError);
}

TEST_F(Memmap, WithoutAPrefixLeavesNoFileBehind) {
  const char* before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", folder().c_str(), 1);
  const auto mapped = memmap(testing::sample(1));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
  EXPECT_THAT(testing::file_behind(leaf_of(mapped, "a")), ::testing::HasSubstr("(deleted)"));
  EXPECT_TRUE(leaf_of(mapped, "a").equal(testing::sample(1).get("a").tensor()));
}

// Each leaf is written from the file that the other one is about to replace.
TEST_F(Memmap, MayReplaceTheFilesThatItMaps) {
  TensorDict td;
  td.set("a", testing::ramp(1, 2));
  td.set("b", testing::ramp(5, 2));
  const auto mapped = memmap(td, {.prefix = place("td")});
  TensorDict swapped;
  swapped.set("a", leaf_of(mapped, "b"));
  swapped.set("b", leaf_of(mapped, "a"));
  const auto result = memmap(swapped, {.prefix = place("td")});
  EXPECT_TRUE(leaf_of(result, "a").equal(testing::ramp(5, 2)));
  EXPECT_TRUE(leaf_of(result, "b").equal(testing::ramp(1, 2)));
  EXPECT_TRUE(leaf_of(mapped, "a").equal(testing::ramp(1, 2)));
}

TEST_F(Memmap, ReplacesNothingThatMustNotExist) {
  memmap(testing::sample(1), {.prefix = place("td")});
  EXPECT_THROW(memmap(testing::sample(2), {.prefix = place("td"), .existsok = false}), c10::Error);
  EXPECT_EQ(leaf_of(load_memmap(place("td")), "a").min().item<int>(), 1);
  memmap(testing::sample(2), {.prefix = place("other"), .existsok = false});
}

TEST_F(Memmap, CannotBeWrittenWhereThereIsAFile) {
  memmap(testing::sample(1), {.prefix = place("td")});
  EXPECT_THROW(memmap(testing::sample(1), {.prefix = place("td/a.memmap/x")}), OSError);
  EXPECT_THROW(memmap(testing::sample(1), {.prefix = place("a") + std::string("\0b", 2)}),
               c10::ValueError);
  EXPECT_THROW(load_memmap(place("missing")), OSError);
}

TEST_F(Memmap, IsNotBegunForWhatItCannotHold) {
  auto sparse = testing::sample(1);
  sparse.set("z", at::eye(2).to_sparse());
  auto meta = testing::sample(1);
  meta.set("z", at::empty({2}, at::kMeta));
  auto names = TensorDict({2});
  names.set_names({"time"});
  names.set("_names", testing::ramp(1, 2));
  for (const auto& td : {sparse, meta, names}) {
    EXPECT_THROW(memmap(td, {.prefix = place("td")}), c10::NotImplementedError);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(Memmap, KeepsNamesAndStacksOfStacks) {
  TensorDict td({2, 1});
  td.set_names({"time", std::nullopt});
  td.set("s", NonTensor{Value::List{Value::List{"x"}, Value::List{"y"}}, true, 1});
  td.set("l", NonTensor{Value::List{Value::List{"x"}, Value::List{"y"}}, true});
  const auto read = testing::plain(memmap(td, {.prefix = place("td")}));
  EXPECT_EQ(read.names(), td.names());
  EXPECT_EQ(*read.get("s").non_tensor(), *td.get("s").non_tensor());
}

TEST(MemmapFormat, NamesEachKeyInOneWay) {
  EXPECT_EQ(memmap_format::name_of(""), "%");
  EXPECT_EQ(memmap_format::name_of("."), "%2E");
  EXPECT_EQ(memmap_format::name_of(".."), "%2E%2E");
  EXPECT_EQ(memmap_format::name_of("..."), "...");
  EXPECT_EQ(memmap_format::name_of("a/b %\\"), "a%2Fb%20%25%5C");
  EXPECT_EQ(memmap_format::name_of(std::string("\0\x1f\x7f", 3)), "%00%1F%7F");
  EXPECT_EQ(memmap_format::name_of("snö"), "snö");
}

TEST(MemmapFormat, TakesNoKeyForANameThatLeadsElsewhere) {
  for (const std::string key : {"", ".", "..", "a/b", "a\\b", "c:x", "C:", "/a"}) {
    EXPECT_FALSE(memmap_format::may_be_a_name(key)) << key;
  }
  EXPECT_FALSE(memmap_format::may_be_a_name(std::string("a\0b", 3)));
  for (const std::string key : {"a", "a b", "cc:x", "1:x", "..a", "%"}) {
    EXPECT_TRUE(memmap_format::may_be_a_name(key)) << key;
  }
}

}  // namespace
}  // namespace tdref
