// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "engine/input/json_reader.h"
#include "engine/judge/judge.h"
#include "engine/tests/support.h"
#include "engine/value/compare.h"
#include "engine/value/jagged.h"
#include "engine/value/layout.h"
#include "engine/value/snapshot.h"
#include "engine/value/tree.h"
#include "values/hex.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JaggedOffsets, GiveRowsThatGrow) {
  // Row i of n begins at m i (i + 1) / (n + 1).
  EXPECT_THAT(jagged_offsets({2, 3}), ElementsAre(0, 2, 6));
  EXPECT_THAT(jagged_offsets({3, 2, 7}), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(jagged_offsets({2, 1}), ElementsAre(0, 0, 2));
  EXPECT_THAT(jagged_offsets({1, 4}), ElementsAre(0, 4));
  EXPECT_THAT(jagged_offsets({3, 0}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(jagged_offsets({0, 3}), ElementsAre(0));
}

/// A tensor [2, 3] of one form, with the elements 1 to 6.
TensorLeaf leaf_of(const std::string& form) {
  TensorLeaf leaf{&dtype_named("uint8"), {2, 3}, {{{Ramp{1, 1}}, 6}}, form};
  return leaf;
}

const json kRows{{"offsets", {0, 2, 6}}, {"lengths", nullptr}, {"ragged_idx", 1}};

json seen_jagged(const std::string& hex = "010203040506", const json& rows = kRows) {
  json seen = seen_tensor("uint8", {2, -1}, hex);
  seen["layout"] = "jagged";
  seen["class"] = "NestedTensor";
  seen["rows"] = rows;
  return seen;
}

json rows_with(const char* field, const json& value) {
  json rows = kRows;
  rows[field] = value;
  return rows;
}

std::string difference_of(const std::string& form, const json& seen) {
  const auto differences = compare_tensor("j", leaf_of(form), decode_tensor(seen));
  EXPECT_LE(differences.size(), 1U);
  return differences.empty() ? "" : differences.front().text;
}

TEST(Jagged, WhatItsFormMakesIsEqual) {
  EXPECT_EQ(difference_of("jagged", seen_jagged()), "");
}

TEST(Jagged, EachPartCounts) {
  EXPECT_EQ(difference_of("jagged", seen_jagged("010203040606")), "j values[4] expected 5 got 6");
  EXPECT_EQ(difference_of("jagged", seen_jagged("01020304050607")),
            "j values expected 6 bytes got 7 bytes");
  EXPECT_EQ(difference_of("jagged", seen_jagged("010203040506", rows_with("offsets", {0, 3, 6}))),
            "j: offsets expected [0,2,6] got [0,3,6]");
  EXPECT_EQ(difference_of("jagged", seen_jagged("010203040506", rows_with("lengths", {2, 4}))),
            "j: lengths expected null got [2,4]");
  json rows = rows_with("ragged_idx", 2);
  rows["offsets"] = {0, 1, 2};
  json transposed = seen_jagged("010203040506", rows);
  transposed["shape"] = {2, 3, -1};
  EXPECT_THAT(difference_of("jagged", transposed), HasSubstr("shape expected [2,-1]"));
  EXPECT_EQ(difference_of("jagged", seen_tensor("uint8", {2, 3}, "010203040506")),
            "j: layout expected jagged got strided");
  EXPECT_EQ(difference_of("plain", seen_jagged()), "j: layout expected strided got jagged");
}

TEST(Jagged, PoisonIsCalledPoison) {
  EXPECT_EQ(difference_of("jagged", seen_jagged("fefdfcfbfaf9")),
            "j values still holds its poison");
}

TEST(Jagged, ADigestIsCompared) {
  json seen = seen_jagged();
  seen.erase("bytes");
  seen["sha256"] = sha256_hex(decode_hex("010203040506"));
  EXPECT_EQ(difference_of("jagged", seen), "");
  seen["sha256"] = sha256_hex(decode_hex("010203040505"));
  EXPECT_THAT(difference_of("jagged", seen), HasSubstr("j values differs: its digest is "));
}

TEST(Jagged, WithoutItsElementsIsADifference) {
  json seen = seen_jagged();
  seen.erase("bytes");
  EXPECT_EQ(difference_of("jagged", seen), "j: elements expected bytes got layout jagged on cpu");
}

std::string violation_of(const json& seen) {
  try {
    decode_tensor(seen);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "none";
}

TEST(Jagged, RowsThatCannotBeAreRefused) {
  const auto with_rows = [](const char* field, const json& value) {
    return violation_of(seen_jagged("010203040506", rows_with(field, value)));
  };
  const char* const out_of_order = "the rows of a jagged tensor do not lie in order";
  EXPECT_EQ(with_rows("offsets", {0, 7, 6}), out_of_order);
  EXPECT_EQ(with_rows("offsets", {-1, 2, 6}), out_of_order);
  EXPECT_EQ(with_rows("offsets", {0, 6}), out_of_order);
  EXPECT_EQ(with_rows("offsets", json::array()), out_of_order);
  EXPECT_EQ(with_rows("lengths", {2}), out_of_order);
  EXPECT_EQ(with_rows("lengths", {3, 1}), out_of_order);
  EXPECT_EQ(with_rows("lengths", {-1, 1}), out_of_order);
  EXPECT_EQ(with_rows("ragged_idx", 2), "a jagged tensor has no ragged dimension 2");
  EXPECT_EQ(with_rows("ragged_idx", 0), "a jagged tensor has no ragged dimension 0");
  EXPECT_THAT(with_rows("more", 1), HasSubstr("unknown field `more`"));
  EXPECT_EQ(with_rows("offsets", {0, 2, 7}),
            "a jagged tensor of 7 values of 1 bytes is reported with 6 bytes");
  json wide = seen_jagged("0102030405");
  wide["dtype"] = "int16";
  EXPECT_EQ(violation_of(wide), "a jagged tensor of 6 values of 2 bytes is reported with 5 bytes");
  EXPECT_EQ(violation_of(seen_jagged()), "none");
}

TEST(Jagged, RowsStandInItsSnapshotAlone) {
  json without = seen_jagged();
  without.erase("rows");
  EXPECT_EQ(violation_of(without), "a tensor of layout `jagged` has no `rows`");
  json strided = seen_tensor("uint8", {6}, "010203040506");
  strided["rows"] = kRows;
  EXPECT_EQ(violation_of(strided), "a tensor of layout `strided` has `rows`");
}

TEST(Jagged, NeedsTwoDimensions) {
  EXPECT_THAT(error_of("id: t/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 1\nvalues:\n"
                       "  v: {batch_size: [], entries: [[j, {dtype: int8, shape: [2], form: "
                       "jagged}]]}\nranks: {0: [{make: v}]}\n"),
              HasSubstr("in form: got \"jagged\", allowed: jagged only with two dimensions"));
}

TEST(Jagged, IsItsValuesAndItsOffsetsInAStorage) {
  Dict dict;
  dict.entries = {{"j", {leaf_of("jagged")}}, {"a", {leaf_of("plain")}}};
  const Tree tree{dict};
  EXPECT_EQ(encode_hex(storage_bytes(tree, tree)),
            "0102030405060000"
            "000000000000000002000000000000000600000000000000"
            "0102030405060000");
}

/// What is said of a snapshot of a value whose leaf `j` is jagged, looked at in one way.
std::string signature_of(const std::string& expect, const json& seen) {
  const Case c = case_of(1,
                         "  v: {batch_size: [2], entries: [[j, {dtype: uint8, shape: [2, 3], form: "
                         "jagged, fill: {ramp: [1, 1]}}]]}\n",
                         "  0: [{make: v}, {snapshot: v, expect: " + expect + "}]\n");
  Record record;
  record.ranks = {rank_that_answered({returned_snapshot(seen_dict({{"j", seen_jagged()}})),
                                      returned_snapshot(seen_dict({{"j", seen}}))})};
  return judge(c, record).signature;
}

TEST(Jagged, IsJudgedInASnapshot) {
  EXPECT_EQ(signature_of("{unchanged: true}", seen_jagged()), "");
  EXPECT_EQ(signature_of("{equals: v}", seen_jagged("010203040507")),
            "rank 0 step 2 (snapshot): j values[5] expected 6 got 7");
}

TEST(Jagged, HasValuesRowByRow) {
  EXPECT_EQ(signature_of("{values: {j: [[1, 2], [3, 4, 5, 6]]}, sum: {j: 21}}", seen_jagged()), "");
  EXPECT_EQ(signature_of("{values: {j: [[1, 2, 3], [4, 5, 6]]}}", seen_jagged()),
            "rank 0 step 2 (snapshot): j: values expected [[1,2,3],[4,5,6]] got [[1,2],[3,4,5,6]]");
  EXPECT_EQ(signature_of("{values: {j: [[1], [3, 4]]}}",
                         seen_jagged("010203040506", rows_with("lengths", {1, 2}))),
            "");
}

json seen_sparse(const std::string& hex) {
  json seen = seen_tensor("uint8", {2, 3}, hex);
  seen["layout"] = "sparse_coo";
  return seen;
}

TEST(Sparse, ElementsAreComparedAsIfDense) {
  EXPECT_EQ(difference_of("sparse_coo", seen_sparse("010203040506")), "");
  EXPECT_EQ(difference_of("sparse_coo", seen_sparse("010203000506")), "j[1, 0] expected 4 got 0");
}

TEST(Sparse, AnotherLayoutIsADifference) {
  EXPECT_EQ(difference_of("sparse_coo", seen_tensor("uint8", {2, 3}, "010203040506")),
            "j: layout expected sparse_coo got strided");
  EXPECT_EQ(difference_of("plain", seen_sparse("010203040506")),
            "j: layout expected strided got sparse_coo");
}

TEST(Meta, HasNoElementsToCompare) {
  json seen = seen_tensor("uint8", {2, 3}, "");
  seen.erase("bytes");
  seen["device"] = "meta";
  EXPECT_EQ(difference_of("meta", seen), "");
  EXPECT_EQ(difference_of("plain", seen), "j: elements expected bytes got layout strided on meta");
}

}  // namespace
}  // namespace tdconf
