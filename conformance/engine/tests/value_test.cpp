// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "engine/tests/support.h"
#include "engine/value/compare.h"
#include "engine/value/element.h"
#include "engine/value/layout.h"
#include "engine/value/snapshot.h"
#include "engine/value/tree.h"
#include "values/hex.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;

/// The value `v` as the last rank of a world makes it.
TreePtr made_by(int rank, const std::string& values, const std::string& name = "v") {
  const std::string ranks = "  \"*\": [{make: " + name + "}]\n";
  return case_of(rank + 1, values, ranks).programs.back()[0].made;
}

TensorLeaf leaf_at(const TreePtr& tree, const Path& path) {
  const TensorLeaf* leaf = find_tensor(*tree, path);
  EXPECT_NE(leaf, nullptr) << dotted(path);
  return leaf == nullptr ? TensorLeaf{} : *leaf;
}

std::string bytes_at(const TreePtr& tree, const Path& path) {
  return encode_hex(leaf_at(tree, path).bytes());
}

const std::string kNested =
    "  v:\n"
    "    batch_size: [1]\n"
    "    entries:\n"
    "      - [z, {dtype: int16, shape: [1, 2]}]\n"
    "      - [n, {batch_size: [1], entries: [[x, {dtype: int16, shape: [1]}], [d, {data: "
    "hello}]]}]\n"
    "      - [a, {dtype: bool, shape: [1, 3]}]\n"
    "  p: {poison: v, reversed: true, locked: true}\n"
    "  q: {poison: {stack: v@others}}\n";

TEST(AutomaticFill, DiffersForEachRankLeafAndElement) {
  // Rank 0: leaf 0 begins at 1001, leaf 1 at 1101; rank 1: at 2001 and 2101.
  EXPECT_EQ(bytes_at(made_by(0, kNested), {"z"}), "e903ea03");
  EXPECT_EQ(bytes_at(made_by(0, kNested), {"n", "x"}), "4d04");
  EXPECT_EQ(bytes_at(made_by(1, kNested), {"z"}), "d107d207");
  EXPECT_EQ(bytes_at(made_by(1, kNested), {"n", "x"}), "3508");
}

TEST(AutomaticFill, ScramblesBoolsWithRankAndLeaf) {
  EXPECT_EQ(leaf_at(made_by(1, kNested), {"a"}).fill(), Fill{Scramble{2002}});
}

TEST(AutomaticFill, ASeedReplacesTheRank) {
  const std::string values =
      "  v: {batch_size: [], seed: 7, entries: [[a, {dtype: int16, shape: []}]]}\n";
  EXPECT_EQ(leaf_at(made_by(3, values), {"a"}).fill(), (Fill{Ramp{7001, 1}}));
}

TEST(AutomaticFill, AnOwnFillStillCountsAsALeaf) {
  const std::string values =
      "  v:\n"
      "    batch_size: []\n"
      "    entries: [[a, {dtype: int16, shape: [], fill: {const: 5}}], [b, {dtype: int16, shape: "
      "[]}]]\n";
  EXPECT_EQ(leaf_at(made_by(0, values), {"a"}).fill(), (Fill{Constant{5}}));
  EXPECT_EQ(leaf_at(made_by(0, values), {"b"}).fill(), (Fill{Ramp{1101, 1}}));
}

TEST(Stack, RowsOfStackedDataAreAListOfLists) {
  const std::string values =
      "  v: {batch_size: [2], entries: [[s, {stack_dim: 0, members: [{data: a}, {data: b}]}]]}\n";
  const TreePtr row = made_by(0, values);
  const Tree both = stacked({row, row});
  const Tree& data = both.dict()->entries.at(0).value;
  ASSERT_NE(data.non_tensor(), nullptr);
  EXPECT_EQ(data.non_tensor()->data, nlohmann::json::parse(R"([["a", "b"], ["a", "b"]])"));
}

TEST(Poison, ComplementsEveryByteAndFlipsBools) {
  const TreePtr poison = made_by(0, kNested, "p");
  EXPECT_EQ(bytes_at(poison, {"z"}), "16fc15fc");
  const Bytes bools = leaf_at(made_by(0, kNested), {"a"}).bytes();
  const Bytes flipped = leaf_at(poison, {"a"}).bytes();
  for (std::size_t i = 0; i < bools.size(); ++i) EXPECT_EQ(bools[i] + flipped[i], 1);
}

TEST(Poison, ReplacesNonTensorDataAndReversesAtEachLevel) {
  const TreePtr poison = made_by(0, kNested, "p");
  const Dict& root = *poison->dict();
  EXPECT_TRUE(root.locked);
  ASSERT_EQ(root.entries.size(), 3U);
  EXPECT_EQ(root.entries[0].key, "a");
  EXPECT_EQ(root.entries[2].key, "z");
  const Dict& nested = *root.entries[1].value.dict();
  EXPECT_EQ(nested.entries[0].key, "d");
  EXPECT_EQ(nested.entries[0].value.non_tensor()->data, "poison");
}

TEST(Stack, HasOneRowForEachOtherRank) {
  // Rank 2 of three: the rows are those of ranks 0 and 1.
  const TreePtr poison = made_by(2, kNested, "q");
  EXPECT_EQ(poison->dict()->batch_size, (Shape{2, 1}));
  EXPECT_EQ(leaf_at(poison, {"z"}).shape, (Shape{2, 1, 2}));
  EXPECT_EQ(bytes_at(poison, {"z"}), "16fc15fc2ef82df8");
}

TEST(Stack, RefusesRowsOfDifferentShapes) {
  const Case c = case_of(1,
                         "  a: {batch_size: [], entries: [[x, {dtype: int8, shape: [1]}]]}\n"
                         "  b: {batch_size: [], entries: [[x, {dtype: int8, shape: [2]}]]}\n",
                         "  0: [{make: a}, {make: b}]\n");
  const TreePtr a = c.programs[0][0].made;
  const TreePtr b = c.programs[0][1].made;
  EXPECT_THROW(stacked({a, b}), std::invalid_argument);
  EXPECT_THROW(stacked({}), std::invalid_argument);
  EXPECT_EQ(bytes_at(std::make_shared<const Tree>(stacked({b, b})), {"x"}), "e9eae9ea");
}

const std::string kPair =
    "  v: {kind: tensorclass, class: Pair, batch_size: [1], entries: [[b, {dtype: int16, shape: "
    "[1]}], [a, {dtype: int8, shape: [1]}]]}\n"
    "  p: {poison: v, reversed: true, locked: true, consolidated: true}\n"
    "  q: {poison: {stack: v@others}}\n"
    "  other: {kind: tensorclass, class: Other, batch_size: [1], entries: [[b, {dtype: int16, "
    "shape: "
    "[1]}], [a, {dtype: int8, shape: [1]}]]}\n"
    "  plain: {batch_size: [1], entries: [[b, {dtype: int16, shape: [1]}], [a, {dtype: int8, "
    "shape: "
    "[1]}]]}\n";

TEST(TensorClass, IsMadeWithItsClassAndItsFieldsInTheirOrder) {
  const TreePtr tree = made_by(0, kPair);
  EXPECT_EQ(tree->dict()->kind, "tensorclass");
  EXPECT_EQ(tree->dict()->class_name, "Pair");
  const nlohmann::json json = tree_to_json(*tree);
  EXPECT_EQ(json["kind"], "tensorclass");
  EXPECT_EQ(json["class"], "Pair");
  EXPECT_EQ(json["entries"][0][0], "b");
  EXPECT_EQ(json["locked"], false);
  EXPECT_FALSE(tree_to_json(*made_by(0, kPair, "plain")).contains("class"));
}

TEST(TensorClass, StaysOneWhenItIsPoisonedOrStacked) {
  const TreePtr poison = made_by(0, kPair, "p");
  EXPECT_EQ(poison->dict()->class_name, "Pair");
  EXPECT_EQ(poison->dict()->kind, "tensorclass");
  EXPECT_TRUE(poison->dict()->locked && poison->dict()->consolidated);
  EXPECT_EQ(poison->dict()->entries[0].key, "a");
  const TreePtr stack = made_by(2, kPair, "q");
  EXPECT_EQ(stack->dict()->class_name, "Pair");
  EXPECT_EQ(stack->dict()->batch_size, (Shape{2, 1}));
}

TEST(TensorClass, IsStackedWithItsOwnClassAlone) {
  const TreePtr pair = made_by(0, kPair);
  EXPECT_THROW(stacked({pair, made_by(0, kPair, "other")}), std::invalid_argument);
  EXPECT_THROW(stacked({pair, made_by(0, kPair, "plain")}), std::invalid_argument);
  EXPECT_NO_THROW(stacked({pair, pair}));
}

/// What an adapter would say that it holds, but for the tensors.
SeenTree seen_as(const std::string& kind, const std::string& class_name) {
  return {SeenDict{kind, class_name, {1}, nullptr, nullptr, false, {}}};
}

std::string first_difference(const TreePtr& expected, const SeenTree& seen) {
  const std::vector<Difference> differences = compare(*expected, seen);
  return differences.empty() ? "" : differences.front().text;
}

TEST(TensorClass, IsComparedByKindAndClass) {
  const TreePtr pair = made_by(0, kPair);
  EXPECT_EQ(first_difference(pair, seen_as("tensordict", "")),
            "the root: kind expected tensorclass got tensordict");
  EXPECT_EQ(first_difference(pair, seen_as("tensorclass", "Other")),
            "the root: class expected Pair got Other");
  EXPECT_EQ(first_difference(made_by(0, kPair, "plain"), seen_as("tensorclass", "Pair")),
            "the root: kind expected tensordict got tensorclass");
  EXPECT_EQ(first_difference(pair, seen_as("tensorclass", "Pair")), "b is missing");
}

std::string refusal_of(const std::string& value) {
  try {
    made_by(0, "  v: " + value + "\n");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorClass, NeedsAClassAndFieldsThatAreIdentifiers) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal_of("{kind: tensorclass, batch_size: [], entries: []}"), HasSubstr("`class`"));
  EXPECT_THAT(refusal_of("{batch_size: [], entries: [], class: Pair}"), HasSubstr("\"class\""));
  EXPECT_THAT(refusal_of("{kind: tensorclass, class: my.Pair, batch_size: [], entries: []}"),
              HasSubstr("letters, digits and _"));
  EXPECT_THAT(refusal_of("{kind: tensorclass, class: __doc__, batch_size: [], entries: []}"),
              HasSubstr("a letter first"));
  EXPECT_THAT(refusal_of("{kind: tensorclass, class: Pair, batch_size: [], entries: [[1a, {dtype: "
                         "int8, shape: []}]]}"),
              HasSubstr("a field"));
  EXPECT_THAT(refusal_of("{batch_size: [], entries: [[n, {kind: tensorclass, class: Pair, "
                         "batch_size: [], entries: [], consolidated: true}]]}"),
              HasSubstr("only at the root"));
}

std::string pair_of(const std::string& entries) {
  return "{kind: tensorclass, class: Pair, batch_size: [], entries: [" + entries + "]}";
}

/// What is said of two values, each made by another rank.
std::string refusal_of_two(const std::string& first, const std::string& second) {
  try {
    case_of(2,
            "  v: " + first + "\n  w: " + second + "\n",
            "  0: [{make: v}]\n"
            "  1: [{make: w}]\n");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorClass, HasOneSetOfFieldsWithinACase) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const std::string a = "[a, {dtype: int8, shape: []}]";
  const std::string b = "[b, {dtype: int8, shape: []}]";
  EXPECT_EQ(refusal_of_two(pair_of(a + ", " + b), pair_of(b + ", " + a)), "");
  EXPECT_THAT(refusal_of_two(pair_of(a + ", " + b), pair_of(a)),
              AllOf(HasSubstr("case.yaml:8"),
                    HasSubstr("value `w`"),
                    HasSubstr("class `Pair` with the fields [a]"),
                    HasSubstr("elsewhere in the case: [a, b]")));
  const std::string holder = "{batch_size: [], entries: [[n, " + pair_of(a) + "]]}";
  EXPECT_THAT(refusal_of_two(pair_of(""), holder), HasSubstr("elsewhere in the case: []"));
  EXPECT_THAT(refusal_of(pair_of("[p, " + pair_of("") + "]")), HasSubstr("with the fields [p]"));
}

TEST(TensorClass, IsReadFromASnapshotWithItsClass) {
  nlohmann::json seen = seen_dict({{"a", seen_tensor("int8", {2}, "0102")}});
  seen["kind"] = "tensorclass";
  seen["class"] = "Pair";
  seen["consolidated"] = nullptr;
  const Snapshot snapshot = decode_snapshot(seen);
  EXPECT_EQ(snapshot.root.dict()->kind, "tensorclass");
  EXPECT_EQ(snapshot.root.dict()->class_name, "Pair");
  EXPECT_NE(find_tensor(snapshot.root, "a"), nullptr);
}

// The example that the format is explained with: uint8[3], then {float32[3], float32[0]}, then bool.
TEST(Layout, PadsEachLeafToEightBytesInInsertionOrder) {
  const TreePtr tree = made_by(0,
                               "  v:\n"
                               "    batch_size: []\n"
                               "    entries:\n"
                               "      - [a, {dtype: uint8, shape: [3]}]\n"
                               "      - [n, {batch_size: [], entries: [[b, {dtype: float32, shape: "
                               "[3]}], [e, {dtype: float32, shape: [0]}]]}]\n"
                               "      - [c, {dtype: bool, shape: []}]\n");
  const std::vector<Slot> layout = storage_layout(*tree);
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> paddings;
  for (const Slot& slot : layout) {
    offsets.push_back(slot.offset);
    paddings.push_back(slot.padding);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 8, 24, 24));
  EXPECT_THAT(paddings, ElementsAre(5, 4, 0, 7));
  EXPECT_EQ(storage_size(layout), 32U);
}

TEST(Layout, TakesTheOrderFromOneValueAndTheContentsFromAnother) {
  const Case c = case_of(1,
                         "  a: {batch_size: [], entries: [[x, {dtype: uint8, shape: [1]}], [y, "
                         "{dtype: uint8, shape: [1]}]]}\n"
                         "  b: {batch_size: [], entries: [[y, {dtype: uint8, shape: [1], fill: "
                         "{const: 9}}], [x, {dtype: uint8, shape: [1], fill: {const: 8}}]]}\n",
                         "  0: [{make: a}, {make: b}]\n");
  const Bytes storage = storage_bytes(*c.programs[0][0].made, *c.programs[0][1].made);
  EXPECT_EQ(encode_hex(storage), "08000000000000000900000000000000");
}

TEST(Element, IsReadBackFromItsBytes) {
  const auto element = [](const char* hex, const char* dtype) {
    return decode_element(decode_hex(hex), dtype_named(dtype));
  };
  EXPECT_EQ(element("ff", "int8"), -1);
  EXPECT_EQ(element("ff", "uint8"), 255);
  EXPECT_EQ(element("ffffffffffffffff", "uint64"), 18446744073709551615U);
  EXPECT_EQ(element("0038", "float16"), 0.5);
  EXPECT_EQ(element("0100", "float16"), 0x1p-24);
  EXPECT_EQ(element("803f", "bfloat16"), 1.0);
  EXPECT_EQ(element("7e", "float8_e4m3fn"), 448.0);
  EXPECT_EQ(element("7b", "float8_e5m2"), 57344.0);
  EXPECT_EQ(element("01", "bool"), true);
  EXPECT_EQ(element("0000803f000080bf", "complex64"), nlohmann::json({1.0, -1.0}));
}

TEST(Element, IsShownWithItsBitsWhenItIsNoOrdinaryNumber) {
  const auto shown = [](const char* hex, const char* dtype) {
    return show_element(decode_hex(hex), dtype_named(dtype));
  };
  EXPECT_EQ(shown("0000c07f", "float32"), "nan (bits 7fc00000)");
  EXPECT_EQ(shown("00000080", "float32"), "-0 (bits 80000000)");
  EXPECT_EQ(shown("007c", "float16"), "inf (bits 7c00)");
  EXPECT_EQ(shown("7f", "float8_e4m3fn"), "nan (bits 7f)");
  EXPECT_EQ(shown("02", "bool"), "bool byte 02");
  EXPECT_EQ(shown("0000803f", "float32"), "1");
}

TEST(Element, PositionsAreRowMajor) {
  EXPECT_EQ(show_index(4, {2, 3}), "[1, 1]");
  EXPECT_EQ(show_index(0, {}), "");
}

}  // namespace
}  // namespace tdconf
