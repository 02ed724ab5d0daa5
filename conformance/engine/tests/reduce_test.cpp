// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/reduce.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "engine/tests/support.h"
#include "values/hex.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

/// A tensordict of one tensor `a` with these elements.
TreePtr value_of(const char* dtype, const char* hex) {
  const DType& type = dtype_named(dtype);
  const Bytes bytes = decode_hex(hex);
  const auto numel = static_cast<std::int64_t>(bytes.size() / type.size_bytes);
  const TensorLeaf leaf{&type, {numel}, {{fill_with(bytes), numel}}, "plain"};
  Dict dict;
  dict.entries.push_back({"a", {leaf}});
  return std::make_shared<const Tree>(Tree{dict});
}

std::string reduce(const char* dtype, const std::vector<const char*>& rows, const char* op) {
  std::vector<TreePtr> values;
  for (const char* row : rows) values.push_back(value_of(dtype, row));
  const Tree result = reduced(*values.front(), values, reduce_op_named(op));
  return encode_hex(find_tensor(result, {"a"})->bytes());
}

std::string error_of_reduction(const TreePtr& a, const TreePtr& b, const char* op) {
  try {
    reduced(*a, {a, b}, reduce_op_named(op));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Reduce, IntegersWrap) {
  // 100 + 100 = 200 = -56 and -128 - 1 = -129 = 127; 100 · 100 = 10000 = 39 · 256 + 16.
  EXPECT_EQ(reduce("int8", {"6480", "64ff"}, "SUM"), "c87f");
  EXPECT_EQ(reduce("int8", {"6480", "64ff"}, "PRODUCT"), "1080");
  // 200 + 200 = 400 = 144.
  EXPECT_EQ(reduce("uint8", {"c8", "c8"}, "SUM"), "90");
  EXPECT_EQ(reduce("uint64", {"ffffffffffffffff", "0200000000000000"}, "SUM"), "0100000000000000");
}

TEST(Reduce, TheSignDecidesWhatIsLess) {
  EXPECT_EQ(reduce("int16", {"ffff0100", "0100ffff"}, "MIN"), "ffffffff");
  EXPECT_EQ(reduce("int16", {"ffff0100", "0100ffff"}, "MAX"), "01000100");
  EXPECT_EQ(reduce("uint16", {"ffff", "0100"}, "MIN"), "0100");
  EXPECT_EQ(reduce("uint16", {"ffff", "0100"}, "MAX"), "ffff");
}

TEST(Reduce, BitsOfIntegers) {
  EXPECT_EQ(reduce("int32", {"f00f0000", "ff000000"}, "BAND"), "f0000000");
  EXPECT_EQ(reduce("int32", {"f00f0000", "ff000000"}, "BOR"), "ff0f0000");
  EXPECT_EQ(reduce("int32", {"f00f0000", "ff000000"}, "BXOR"), "0f0f0000");
}

TEST(Reduce, BoolsAreLogical) {
  for (const char* op : {"SUM", "MAX", "BOR"}) {
    EXPECT_EQ(reduce("bool", {"00000101", "00010001"}, op), "00010101") << op;
  }
  for (const char* op : {"PRODUCT", "MIN", "BAND"}) {
    EXPECT_EQ(reduce("bool", {"00000101", "00010001"}, op), "00000001") << op;
  }
  EXPECT_EQ(reduce("bool", {"00000101", "00010001"}, "BXOR"), "00010100");
}

TEST(Reduce, FloatingNumbers) {
  // 1.5 and 2.25: sum 3.75, product 3.375, mean 1.875.
  const std::vector<const char*> rows{"0000c03f", "00001040"};
  EXPECT_EQ(reduce("float32", rows, "SUM"), "00007040");
  EXPECT_EQ(reduce("float32", rows, "PRODUCT"), "00005840");
  EXPECT_EQ(reduce("float32", rows, "AVG"), "0000f03f");
  EXPECT_EQ(reduce("float32", rows, "MIN"), "0000c03f");
  EXPECT_EQ(reduce("float32", rows, "MAX"), "00001040");
  // 1 + 2 = 3.
  EXPECT_EQ(reduce("float64", {"000000000000f03f", "0000000000000040"}, "SUM"), "0000000000000840");
}

TEST(Reduce, SmallFloatsAreRoundedAfterEachStep) {
  // Above 2048 the numbers of float16 are the even ones, and 2049 lies between two of them.
  EXPECT_EQ(reduce("float16", {"0068", "003c", "003c"}, "SUM"), "0068");
  EXPECT_EQ(reduce("float16", {"003c", "003c", "0068"}, "SUM"), "0168");
  // Above 256 those of bfloat16 are the even ones; 257 is rounded to 256, 259 to 260.
  EXPECT_EQ(reduce("bfloat16", {"8043", "803f"}, "SUM"), "8043");
  EXPECT_EQ(reduce("bfloat16", {"8143", "803f"}, "SUM"), "8243");
  // 2 / 3 = 2^-1 · (1 + 341.33 / 1024).
  EXPECT_EQ(reduce("float16", {"003c", "003c", "0000"}, "AVG"), "5539");
}

TEST(Reduce, WhatIsTooLargeForASmallFloat) {
  // 65504 + 65504 in float16, 57344 + 57344 in float8_e5m2, 448 + 448 in float8_e4m3fn.
  EXPECT_EQ(reduce("float16", {"ff7b", "ff7b"}, "SUM"), "007c");
  EXPECT_EQ(reduce("float8_e5m2", {"7b", "7b"}, "SUM"), "7c");
  EXPECT_EQ(reduce("float8_e4m3fn", {"7e", "7e"}, "SUM"), "7f");
}

TEST(Reduce, ComplexNumbers) {
  // (1 + 2i) and (3 + 4i): sum 4 + 6i, mean 2 + 3i, product -5 + 10i.
  const std::vector<const char*> rows{"0000803f00000040", "0000404000008040"};
  EXPECT_EQ(reduce("complex64", rows, "SUM"), "000080400000c040");
  EXPECT_EQ(reduce("complex64", rows, "AVG"), "0000004000004040");
  EXPECT_EQ(reduce("complex64", rows, "PRODUCT"), "0000a0c000002041");
}

TEST(Reduce, TensorsWithoutElementsStayThat) {
  EXPECT_EQ(reduce("float32", {"", ""}, "AVG"), "");
}

TEST(Reduce, AnOpWithoutAMeaningIsRefused) {
  EXPECT_EQ(
      error_of_reduction(value_of("float32", "00000000"), value_of("float32", "00000000"), "BAND"),
      "BAND has no meaning for float32, the dtype of `a`");
  for (const char* op : {"MIN", "MAX", "BOR"}) {
    const TreePtr value = value_of("complex64", "0000000000000000");
    EXPECT_THAT(error_of_reduction(value, value, op), HasSubstr("no meaning for complex64")) << op;
  }
  EXPECT_THAT(error_of_reduction(value_of("int8", "00"), value_of("int8", "00"), "AVG"),
              HasSubstr("AVG has no meaning for int8"));
}

TEST(Reduce, OtherStructuresAreRefused) {
  EXPECT_EQ(error_of_reduction(value_of("int8", "00"), value_of("uint8", "00"), "SUM"),
            "cannot reduce: the values differ in dtype at `a`");
  EXPECT_EQ(error_of_reduction(value_of("int8", "00"), value_of("int8", "0000"), "SUM"),
            "cannot reduce: the values differ in shape at `a`");
  const auto empty = std::make_shared<const Tree>(Tree{Dict{}});
  EXPECT_EQ(error_of_reduction(value_of("int8", "00"), empty, "SUM"),
            "cannot reduce: the values differ in keys: [a] and []");
}

/// What `equals` of the only snapshot of a rank holds in the leaf `key`.
std::string expected_at(const Case& c, std::size_t rank, const Path& key) {
  const TensorLeaf* leaf = find_tensor(*c.programs[rank].back().expect.equals, key);
  return leaf == nullptr ? "no leaf" : encode_hex(leaf->bytes());
}

const std::string kValues =
    "  v: {batch_size: [2], entries: [[z, {dtype: int16, shape: [2]}], [n, {batch_size: [2], "
    "entries: [[x, {dtype: int16, shape: [2]}]]}], [d, {data: hello}]]}\n";

TEST(ReducedExpression, IsOfAllRanksOfTheWorldAndInTheStructureOfTheRank) {
  const Case c =
      case_of(2, kValues, "  \"*\": [{make: v}, {snapshot: v, expect: {equals: {reduced: v}}}]\n");
  // 1001 + 2001 = 3002 = 0x0bba, 1101 + 2101 = 3202 = 0x0c82; the next element is 2 more.
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(expected_at(c, rank, {"z"}), "ba0bbc0b");
    EXPECT_EQ(expected_at(c, rank, {"n", "x"}), "820c840c");
  }
  const Dict& root = *c.programs[0].back().expect.equals->dict();
  EXPECT_EQ(root.entries[0].key, "z");
  EXPECT_EQ(root.entries[2].value.non_tensor()->data, "hello");
}

const char* const kOfAPair =
    "id: t/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 3\ngroups: {pair: {ranks: [2, 0]}}\n"
    "values:\n  v: {batch_size: [], entries: [[a, {dtype: int16, shape: []}]]}\n";

TEST(ReducedExpression, IsOfTheGroupThatItNames) {
  const Case c = parse_one(std::string(kOfAPair) +
                           "ranks: {\"*\": [{make: v}, {snapshot: v, expect: {equals: {reduced: v, "
                           "op: MAX, group: pair}}}]}\n");
  // 3001, of rank 2.
  EXPECT_EQ(expected_at(c, 0, {"a"}), "b90b");
  EXPECT_EQ(expected_at(c, 1, {"a"}), "b90b");
}

TEST(ReducedExpression, IsOfTheGroupOfTheStep) {
  const Case c = parse_one(
      std::string(kOfAPair) +
      "ranks:\n  0: []\n  1: []\n"
      "  2: [{c10d_recv: {leaf: {reduced: v}, key: [a], src: 0, tag: 0, group: pair}}]\n");
  // 1001 + 3001 = 4002 = 0x0fa2.
  EXPECT_EQ(encode_hex(std::get<TensorLeaf>(c.programs[2][0].receives).bytes()), "a20f");
}

TEST(ReducedExpression, PairsTheMembersOfLazyStacks) {
  const Case c = case_of(
      2,
      "  v: {stack_dim: 0, members: [{batch_size: [], entries: [[a, {dtype: int16, shape: []}]]}, "
      "{batch_size: [], entries: [[b, {dtype: int16, shape: []}]]}]}\n",
      "  \"*\": [{make: v}, {snapshot: v, expect: {equals: {reduced: v}}}]\n");
  EXPECT_EQ(expected_at(c, 1, {"0", "a"}), "ba0b");
  EXPECT_EQ(expected_at(c, 1, {"1", "b"}), "820c");
}

TEST(ReducedExpression, WhatCannotBeReducedIsRefusedWithItsPlace) {
  const auto error_with = [](const std::string& value, const std::string& expression) {
    return error_of(
        "id: t/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 2\nvalues:\n  v: " + value +
        "\nranks:\n  0:\n    - make: v\n    - snapshot: v\n      expect: {equals: " + expression +
        "}\n  1: []\n");
  };
  const std::string floats = "{batch_size: [], entries: [[a, {dtype: float32, shape: []}]]}";
  EXPECT_EQ(error_with(floats, "{reduced: v, op: BAND}"),
            "case.yaml:12: in an expression: BAND has no meaning for float32, the dtype of `a`");
  EXPECT_THAT(error_with(floats, "{reduced: v, op: MEAN}"),
              HasSubstr("case.yaml:12: in op: got \"MEAN\", allowed: SUM, AVG, PRODUCT"));
  EXPECT_THAT(error_with(floats, "{reduced: w}"),
              HasSubstr("case.yaml:12: in a reference: got `w`, allowed: the values v"));
  EXPECT_THAT(error_with(floats, "{reduced: v, group: g}"),
              HasSubstr("case.yaml:12: in group: got \"g\", allowed: the groups default"));
  EXPECT_THAT(error_with(floats, "{reduced: v, stack: v@others}"), HasSubstr("got key \"stack\""));
  EXPECT_EQ(error_with("{batch_size: [], entries: [[k$rank, {dtype: int8, shape: [$rank]}]]}",
                       "{reduced: v}"),
            "case.yaml:12: in an expression: cannot reduce: the values differ in shape at "
            "`k$rank`");
}

}  // namespace
}  // namespace tdconf
