// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/judge.h"

#include <gmock/gmock.h>

#include "engine/tests/support.h"
#include "values/hex.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using nlohmann::json;
using ::testing::HasSubstr;

/// One rank that makes `v` and takes a snapshot with these expectations. `v.a` is int16 [1001, 1002].
Case snapshot_case(const std::string& expect) {
  return case_of(1,
                 "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n",
                 "  0: [{make: v}, {snapshot: v, expect: " + expect + "}]\n");
}

const json kMadeTree = seen_dict({{"a", seen_tensor("int16", {2}, "e903ea03")}});

Judgement judge_snapshot(const std::string& expect,
                         const json& seen,
                         const json& consolidated = nullptr) {
  Record record;
  record.ranks = {
      rank_that_answered({returned_snapshot(kMadeTree), returned_snapshot(seen, consolidated)})};
  return judge(snapshot_case(expect), record);
}

void expect_pass(const Judgement& judgement) {
  EXPECT_EQ(judgement.verdict, Verdict::kPass) << judgement.signature;
}

void expect_fail(const Judgement& judgement, const std::string& signature) {
  EXPECT_EQ(to_string(judgement.verdict), "fail");
  EXPECT_EQ(judgement.signature, signature);
}

json with_a(const json& tensor) {
  return seen_dict({{"a", tensor}});
}

TEST(JudgeEquals, TheSameBitsPass) {
  expect_pass(judge_snapshot("{equals: v}", kMadeTree));
}

TEST(JudgeEquals, AnotherElementIsNamedWithItsPlace) {
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_tensor("int16", {2}, "e903eb03"))),
              "rank 0 step 2 (snapshot): a[1] expected 1002 got 1003");
}

TEST(JudgeEquals, PoisonIsCalledPoison) {
  // The complements of 1001 and 1002 are -1002 and -1003.
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_tensor("int16", {2}, "e90315fc"))),
              "rank 0 step 2 (snapshot): a[1] expected 1002 got -1003 (poison)");
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_tensor("int16", {2}, "16fc15fc"))),
              "rank 0 step 2 (snapshot): a still holds its poison");
}

TEST(JudgeEquals, StructureCounts) {
  const json same = seen_tensor("int16", {2}, "e903ea03");
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_tensor("uint16", {2}, "e903ea03"))),
              "rank 0 step 2 (snapshot): a: dtype expected int16 got uint16");
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_tensor("int16", {1, 2}, "e903ea03"))),
              "rank 0 step 2 (snapshot): a: shape expected [2] got [1,2]");
  expect_fail(judge_snapshot("{equals: v}", seen_dict({})),
              "rank 0 step 2 (snapshot): a is missing");
  expect_fail(judge_snapshot("{equals: v}", seen_dict({{"a", same}, {"b", same}})),
              "rank 0 step 2 (snapshot): b must not be there");
  expect_fail(judge_snapshot("{equals: v}", seen_dict({{"a", same}}, {1})),
              "rank 0 step 2 (snapshot): the root: batch_size expected [2] got [1]");
  expect_fail(judge_snapshot("{equals: v}", with_a(seen_dict({}))),
              "rank 0 step 2 (snapshot): a: kind expected tensor got tensordict");
}

TEST(JudgeEquals, LongTensorsAreComparedByDigest) {
  const Case c = case_of(
      1,
      "  v: {batch_size: [], entries: [[a, {dtype: uint8, shape: [2000], fill: {const: 7}}]]}\n",
      "  0: [{make: v, expect: {equals: v}}]\n");
  const auto judge_digest = [&](std::uint8_t byte) {
    json tensor = seen_tensor("uint8", {2000}, "");
    tensor.erase("bytes");
    tensor["sha256"] = sha256_hex(Bytes(2000, byte));
    Record record;
    record.ranks = {rank_that_answered({returned_snapshot(seen_dict({{"a", tensor}}, {}))})};
    return judge(c, record);
  };
  expect_pass(judge_digest(7));
  EXPECT_THAT(judge_digest(8).signature, HasSubstr("a differs: its digest is"));
  expect_fail(judge_digest(0xf8), "rank 0 step 1 (make): a still holds its poison");
}

TEST(JudgeEquals, NonTensorDataCounts) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: [[a, {data: x}]]}\n",
                         "  \"*\": [{make: v, expect: {equals: {stack: [v@0, v@1]}}}]\n");
  const auto judge_data = [&](const json& data) {
    Record record;
    const json entry{{"kind", "non_tensor"}, {"data", data}, {"batch_size", {2}}};
    const Answer answer = returned_snapshot(seen_dict({{"a", entry}}));
    record.ranks = {rank_that_answered({answer}), rank_that_answered({answer})};
    return judge(c, record);
  };
  expect_pass(judge_data({"x", "x"}));
  expect_pass(judge_data("x"));
  expect_fail(judge_data({"x", "y"}),
              "rank 0 step 1 (make): a: data expected [\"x\",\"x\"] got [\"x\",\"y\"]");
  expect_fail(judge_data("y"), "rank 0 step 1 (make): a: data expected [\"x\",\"x\"] got \"y\"");
}

TEST(JudgeEquals, AStackOfNonTensorsMayBeHeldAsOneList) {
  const Case c = case_of(1,
                         "  v: {batch_size: [2], entries: [[a, {stack_dim: 0, members: [{data: x}, "
                         "{data: y}]}]]}\n",
                         "  0: [{make: v, expect: {equals: v}}]\n");
  const auto judge_entry = [&](const json& entry) {
    Record record;
    record.ranks = {rank_that_answered({returned_snapshot(seen_dict({{"a", entry}}))})};
    return judge(c, record);
  };
  const auto datum = [](const json& data) {
    return json{{"kind", "non_tensor"}, {"data", data}, {"batch_size", {2}}};
  };
  expect_pass(judge_entry(datum({"x", "y"})));
  expect_pass(judge_entry({{"kind", "lazy_stack"},
                           {"class", "NonTensorStack"},
                           {"stack_dim", 0},
                           {"locked", false},
                           {"members", {datum("x"), datum("y")}}}));
  expect_fail(judge_entry(datum({"y", "x"})),
              "rank 0 step 1 (make): a: data expected [\"x\",\"y\"] got [\"y\",\"x\"]");
  expect_fail(judge_entry(datum("x")),
              "rank 0 step 1 (make): a: data expected [\"x\",\"y\"] got \"x\"");
}

TEST(JudgeInPlace, TheMemoryMustBeThatOfTheMake) {
  const json other = with_a(seen_tensor("int16", {2}, "00000000", "elsewhere"));
  expect_pass(
      judge_snapshot("{in_place: true}", with_a(seen_tensor("int16", {2}, "00000000", "m0"))));
  expect_fail(
      judge_snapshot("{in_place: true}", other),
      "rank 0 step 2 (snapshot): a: memory expected that of the value made got other memory");
  expect_fail(judge_snapshot("{in_place: true}", seen_dict({})),
              "rank 0 step 2 (snapshot): a: memory expected that of the value made got no tensor");
}

TEST(JudgeUnchanged, NeitherBitsNorMemoryMayDiffer) {
  expect_pass(judge_snapshot("{unchanged: true}", kMadeTree));
  expect_fail(judge_snapshot("{unchanged: true}", with_a(seen_tensor("int16", {2}, "e903ea04"))),
              "rank 0 step 2 (snapshot): a[1] expected 1002 got 1258");
  EXPECT_EQ(judge_snapshot("{unchanged: true}", with_a(seen_tensor("int16", {2}, "e903ea03", "m1")))
                .verdict,
            Verdict::kFail);
}

/// What `v` looks like with these fields of its root and of a tensordict in it, each beside a tensor.
json described(const json& root, const json& inner) {
  json n = seen_dict({{"x", seen_tensor("int16", {2}, "e903ea03")}});
  n.update(inner);
  json tree = seen_dict({{"n", n}});
  tree.update(root);
  return tree;
}

/// Judges a snapshot of a tensordict that was made with one name, without a device, and unlocked.
Judgement judge_described(const json& root, const json& inner) {
  const Case c = case_of(1,
                         "  v: {batch_size: [2], names: [t], entries: [[n, {batch_size: [2], "
                         "entries: [[x, {dtype: int16, shape: [2]}]]}]]}\n",
                         "  0: [{make: v}, {snapshot: v, expect: {unchanged: true}}]\n");
  Record record;
  record.ranks = {
      rank_that_answered({returned_snapshot(described({{"names", {"t"}}}, json::object())),
                          returned_snapshot(described(root, inner))})};
  return judge(c, record);
}

TEST(JudgeUnchanged, NamesDeviceAndLockCountAtEachLevel) {
  const json names{{"names", {"t"}}};
  const std::string place = "rank 0 step 2 (snapshot): ";
  expect_pass(judge_described(names, json::object()));
  expect_fail(judge_described({{"names", nullptr}}, json::object()),
              place + "names expected [\"t\"] got null");
  expect_fail(judge_described({{"names", {"t"}}, {"device", "cpu"}}, json::object()),
              place + "device expected null got \"cpu\"");
  expect_fail(judge_described({{"names", {"t"}}, {"locked", true}}, json::object()),
              place + "locked expected false got true");
  expect_fail(judge_described(names, {{"names", {"t"}}}),
              place + "n: names expected null got [\"t\"]");
  expect_fail(judge_described(names, {{"device", "cpu"}}),
              place + "n: device expected null got \"cpu\"");
  expect_fail(judge_described(names, {{"locked", true}}),
              place + "n: locked expected false got true");
}

TEST(JudgeRoot, KeysNamesDeviceAndBatchSize) {
  expect_pass(judge_snapshot("{keys: [a], names: null, device: null, batch_size: [2]}", kMadeTree));
  expect_fail(judge_snapshot("{keys: [b]}", kMadeTree),
              "rank 0 step 2 (snapshot): keys expected [\"b\"] got [\"a\"]");
  expect_fail(judge_snapshot("{names: [x]}", kMadeTree),
              "rank 0 step 2 (snapshot): names expected [\"x\"] got null");
  expect_fail(judge_snapshot("{device: cpu}", kMadeTree),
              "rank 0 step 2 (snapshot): device expected \"cpu\" got null");
  expect_fail(judge_snapshot("{batch_size: [3]}", kMadeTree),
              "rank 0 step 2 (snapshot): batch_size expected [3] got [2]");
}

TEST(JudgeSum, AddsAllElements) {
  expect_pass(judge_snapshot("{sum: {a: 2003}}", kMadeTree));
  expect_fail(judge_snapshot("{sum: {a: 2002}}", kMadeTree),
              "rank 0 step 2 (snapshot): a: sum expected 2002 got 2003.0");
  expect_fail(judge_snapshot("{sum: {b: 0}}", kMadeTree), "rank 0 step 2 (snapshot): b is missing");
}

TEST(JudgeValues, ComparesNestedLists) {
  expect_pass(judge_snapshot("{values: {a: [1001, 1002]}}", kMadeTree));
  expect_fail(judge_snapshot("{values: {a: [[1001, 1002]]}}", kMadeTree),
              "rank 0 step 2 (snapshot): a: values expected [[1001,1002]] got [1001,1002]");
}

TEST(JudgeLocked, ALockHoldsForAllThatIsInIt) {
  const auto with_locks = [](bool root, bool nested) {
    json inner = seen_dict({});
    inner["locked"] = nested;
    json outer = seen_dict({{"n", inner}});
    outer["locked"] = root;
    return outer;
  };
  expect_pass(judge_snapshot("{locked: true}", with_locks(true, true)));
  expect_pass(judge_snapshot("{locked: false}", with_locks(false, false)));
  expect_fail(judge_snapshot("{locked: true}", with_locks(false, false)),
              "rank 0 step 2 (snapshot): locked expected true got false");
  expect_fail(judge_snapshot("{locked: true}", with_locks(true, false)),
              "rank 0 step 2 (snapshot): n: locked expected true got false");
  expect_fail(judge_snapshot("{locked: false}", with_locks(false, true)),
              "rank 0 step 2 (snapshot): n: locked expected false got true");
}

TEST(JudgeLocked, AStackIsLockedAsATensorDictIs) {
  const json stack{{"kind", "lazy_stack"},
                   {"class", "LazyStackedTensorDict"},
                   {"stack_dim", 0},
                   {"locked", true},
                   {"members", {seen_dict({})}}};
  expect_fail(judge_snapshot("{locked: false}", stack),
              "rank 0 step 2 (snapshot): locked expected false got true");
  expect_fail(judge_snapshot("{locked: true}", stack),
              "rank 0 step 2 (snapshot): 0: locked expected true got false");
}

TEST(JudgeRequiresGrad, ComparesTheFlag) {
  expect_pass(judge_snapshot("{requires_grad: {a: false}}", kMadeTree));
  expect_fail(judge_snapshot("{requires_grad: {a: true}}", kMadeTree),
              "rank 0 step 2 (snapshot): a: requires_grad expected true got false");
}

TEST(JudgeStorage, HoldsTheContentsOutsideThePadding) {
  // Four bytes of int16 and four of padding, whose contents do not count.
  const auto storage = [](const char* hex) {
    return json{{"token", "s"}, {"nbytes", 8}, {"bytes", hex}};
  };
  expect_pass(judge_snapshot(
      "{is_consolidated: true, storage_holds: v}", kMadeTree, storage("e903ea03aabbccdd")));
  expect_fail(judge_snapshot("{storage_holds: v}", kMadeTree, storage("e903eb0300000000")),
              "rank 0 step 2 (snapshot): the storage of a[1] expected 1002 got 1003");
  expect_fail(judge_snapshot("{storage_holds: v}",
                             kMadeTree,
                             json{{"token", "s"}, {"nbytes", 4}, {"bytes", "e903ea03"}}),
              "rank 0 step 2 (snapshot): the storage: size expected 8 bytes got 4");
  expect_fail(judge_snapshot("{is_consolidated: true}", kMadeTree),
              "rank 0 step 2 (snapshot): is_consolidated expected true got false");
  expect_fail(
      judge_snapshot("{storage_holds: v}", kMadeTree),
      "rank 0 step 2 (snapshot): the storage expected one got a value that is not consolidated");
}

/// One rank that makes `v` and sends it with these expectations.
Judgement judge_send(const std::string& expect, const Answer& answer) {
  const Case c = case_of(1,
                         "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n",
                         "  0: [{make: v}, {send: {td: v, dst: 0}, expect: " + expect + "}]\n");
  Record record;
  record.ranks = {rank_that_answered({returned_snapshot(kMadeTree), answer})};
  return judge(c, record);
}

TEST(JudgeReturns, EachForm) {
  const Answer none = returned({{"kind", "none"}});
  const Answer five = returned({{"kind", "int"}, {"int", 5}});
  const Answer works = returned({{"kind", "works"}, {"works", 2}});
  const Answer self = returned({{"kind", "value"}, {"name", "v"}});
  const Answer other = returned({{"kind", "value"}, {"name", "w"}});
  expect_pass(judge_send("{returns: none}", none));
  expect_pass(judge_send("{returns: 5}", five));
  expect_pass(judge_send("{returns: works}", works));
  expect_pass(judge_send("{returns: {works: 2}}", works));
  expect_pass(judge_send("{returns: self}", self));
  expect_fail(judge_send("{returns: none}", five),
              "rank 0 step 2 (send): the value returned: expected none got 5");
  expect_fail(judge_send("{returns: 6}", five),
              "rank 0 step 2 (send): the value returned: expected 6 got 5");
  expect_fail(judge_send("{returns: {works: 3}}", works),
              "rank 0 step 2 (send): the value returned: expected 3 works got 2 works");
  expect_fail(judge_send("{returns: works}", none),
              "rank 0 step 2 (send): the value returned: expected works got none");
  expect_fail(judge_send("{returns: self}", other),
              "rank 0 step 2 (send): the value returned: expected self got the value `w`");
}

TEST(JudgeReturns, ANewTensorDictIsKeptUnderTheNameOfTheStep) {
  const Case c = case_of(1,
                         "  v: {batch_size: [], entries: []}\n",
                         "  0: [{make: v}, {recv: {td: v, src: 0}, as: w, "
                         "expect: {returns: tensordict}}]\n");
  const auto judge_recv = [&](const json& value) {
    Record record;
    record.ranks = {rank_that_answered({returned_snapshot(kMadeTree), returned(value)})};
    return judge(c, record);
  };
  expect_pass(judge_recv({{"kind", "value"}, {"name", "w"}}));
  expect_fail(judge_recv({{"kind", "value"}, {"name", "v"}}),
              "rank 0 step 2 (recv): the value returned: expected a new tensordict got the value "
              "`v`");
  expect_fail(judge_recv({{"kind", "none"}}),
              "rank 0 step 2 (recv): the value returned: expected a new tensordict got none");
}

TEST(JudgeReturns, NewTensorDictsAreKeptUnderTheNameOfTheStepAndANumber) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: []}\n",
                         "  0: [{make: v}, {all_gather: {td: v}, as: all, "
                         "expect: {returns: {tensordicts: 2}}}]\n  1: []\n");
  const auto judge_gather = [&](const json& value) {
    Record record;
    record.ranks = {rank_that_answered({returned_snapshot(kMadeTree), returned(value)}),
                    rank_that_answered({})};
    return judge(c, record);
  };
  const auto values = [](const json& names) { return json{{"kind", "values"}, {"names", names}}; };
  const std::string wrong =
      "rank 0 step 2 (all_gather): the value returned: expected 2 new tensordicts got ";
  expect_pass(judge_gather(values({"all.0", "all.1"})));
  expect_fail(judge_gather(values({"all.0", "v"})), wrong + "the values `all.0`, `v`");
  expect_fail(judge_gather(values({"all.1", "all.0"})), wrong + "the values `all.1`, `all.0`");
  expect_fail(judge_gather(values({"all.0"})), wrong + "the values `all.0`");
  expect_fail(judge_gather({{"kind", "value"}, {"name", "all.0"}}), wrong + "the value `all.0`");
  expect_fail(judge_gather({{"kind", "none"}}), wrong + "none");
}

TEST(JudgeReturns, ATensorDictThatTheRankHoldsUnderAnotherName) {
  const Case c = case_of(1,
                         "  v: {batch_size: [], entries: []}\n",
                         "  0: [{make: v}, {make: {value: v, name: w}}, {recv: {td: v, src: 0}, "
                         "expect: {returns: {td: w}}}]\n");
  const auto judge_recv = [&](const char* name) {
    Record record;
    const Answer made = returned_snapshot(kMadeTree);
    record.ranks = {
        rank_that_answered({made, made, returned({{"kind", "value"}, {"name", name}})})};
    return judge(c, record);
  };
  expect_pass(judge_recv("w"));
  expect_fail(judge_recv("v"),
              "rank 0 step 3 (recv): the value returned: expected the value `w` got the value `v`");
}

TEST(JudgeInPlace, OfAValueThatNobodyMadeIsTheMemoryOfItsFirstSnapshot) {
  const Case c = case_of(1,
                         "  v: {batch_size: [], entries: []}\n",
                         "  0: [{from_remote_init: {src: 0}, as: w}, {snapshot: w}, "
                         "{snapshot: w, expect: {in_place: true}}]\n");
  const auto judge_last = [&](const char* token) {
    Record record;
    const Answer first = returned_snapshot(with_a(seen_tensor("int16", {2}, "e903ea03", "m0")));
    const Answer last = returned_snapshot(with_a(seen_tensor("int16", {2}, "00000000", token)));
    record.ranks = {
        rank_that_answered({returned({{"kind", "value"}, {"name", "w"}}), first, last})};
    return judge(c, record);
  };
  expect_pass(judge_last("m0"));
  expect_fail(judge_last("m1"),
              "rank 0 step 3 (snapshot): a: memory expected that of the value made got other "
              "memory");
}

TEST(JudgeInPlace, OfAViewIsTheMemoryThatItsItemShowed) {
  const Case c = case_of(1,
                         "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n"
                         "  row: {batch_size: [], entries: [[a, {dtype: int16, shape: []}]]}\n",
                         "  0: [{make: v}, {getitem: {td: v, index: [0]}, as: r, expect: {equals: "
                         "row}}, {snapshot: r, expect: {in_place: true}}]\n");
  const auto judge_last = [&](const char* hex, const char* token) {
    Record record;
    const auto row = [&](const char* at) {
      return returned_snapshot(seen_dict({{"a", seen_tensor("int16", {}, hex, at)}}, {}));
    };
    record.ranks = {rank_that_answered({returned_snapshot(kMadeTree), row("m0"), row(token)})};
    return judge(c, record);
  };
  expect_pass(judge_last("e903", "m0"));
  expect_fail(judge_last("ea03", "m0"), "rank 0 step 2 (getitem): a expected 1001 got 1002");
  expect_fail(judge_last("e903", "m1"),
              "rank 0 step 3 (snapshot): a: memory expected that of the value made got other "
              "memory");
}

TEST(JudgeReduced, TheSumOfAllRanksIsExpected) {
  const Case c = case_of(2,
                         "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n",
                         "  0: [{make: v}, {snapshot: v, expect: {equals: {reduced: v}}}]\n"
                         "  1: []\n");
  const auto judge_sum = [&](const char* hex) {
    Record record;
    record.ranks = {rank_that_answered({returned_snapshot(kMadeTree),
                                        returned_snapshot(with_a(seen_tensor("int16", {2}, hex)))}),
                    rank_that_answered({})};
    return judge(c, record);
  };
  // 1001 + 2001 and 1002 + 2002.
  expect_pass(judge_sum("ba0bbc0b"));
  expect_fail(judge_sum("ba0bbd0b"), "rank 0 step 2 (snapshot): a[1] expected 3004 got 3005");
}

TEST(JudgeRaises, TheCategoryDecides) {
  expect_pass(judge_send("{raises: value}", raised("value", "text")));
  expect_pass(judge_send("{raises: [type, value]}", raised("value", "text")));
  expect_fail(judge_send("{raises: value}", raised("runtime", "text")),
              "rank 0 step 2 (send): expected to raise value but raised runtime (SomeError: text)");
  expect_fail(judge_send("{raises: value}", returned({{"kind", "none"}})),
              "rank 0 step 2 (send): expected to raise value but returned none");
  expect_fail(judge_send("{returns: none}", raised("value", "first\nsecond")),
              "rank 0 step 2 (send): raised value (SomeError: first");
}

TEST(JudgeRefusals, UnsupportedIsLegalOnlyForWhatIsNotClaimed) {
  const Case c = case_of(1, "  v: {batch_size: [], entries: []}\n", "  0: [{make: v}]\n");
  Record record;
  record.ranks = {rank_that_answered({Unsupported{"op:make"}})};
  EXPECT_EQ(judge(c, record).verdict, Verdict::kUnsupported);
  record.ranks[0].capabilities = {"op:make"};
  expect_fail(judge(c, record),
              "rank 0 step 1 (make): unsupported op:make, although it claims that");
}

TEST(JudgeRefusals, AnErrorOfTheAdapterIsNoBehaviour) {
  const Judgement judgement = judge_send("{}", AdapterError{"no idea"});
  EXPECT_EQ(judgement.verdict, Verdict::kError);
  EXPECT_EQ(judgement.signature, "rank 0 step 2 (send): error: no idea");
}

TEST(JudgeRefusals, AnAnswerThatTheOperationCannotHaveIsAnError) {
  EXPECT_EQ(judge_send("{}", returned_snapshot(kMadeTree)).verdict, Verdict::kError);
}

/// Rank 1 receives `v.a` of rank 0 as a bare tensor.
Judgement judge_bare(const std::string& what, const json& tensor) {
  const Case c = case_of(2,
                         "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n",
                         "  0: []\n  1: [{c10d_recv: {" + what + ", src: 0, tag: 0}}]\n");
  Record record;
  record.ranks = {rank_that_answered({}),
                  rank_that_answered({returned({{"kind", "tensor"}, {"tensor", tensor}})})};
  return judge(c, record);
}

TEST(JudgeBareTensors, ALeafMustArriveExactly) {
  expect_pass(judge_bare("leaf: v@0, key: [a]", seen_tensor("int16", {2}, "e903ea03")));
  expect_fail(judge_bare("leaf: v@0, key: [a]", seen_tensor("int16", {2}, "16fc15fc")),
              "rank 1 step 1 (c10d_recv): a still holds its poison");
}

TEST(JudgeBareTensors, AStorageMustArriveOutsideItsPadding) {
  expect_pass(judge_bare("storage: v@0", seen_tensor("uint8", {8}, "e903ea03ffffffff")));
  expect_fail(judge_bare("storage: v@0", seen_tensor("uint8", {8}, "e903ff0300000000")),
              "rank 1 step 1 (c10d_recv): the storage of a[1] expected 1002 got 1023");
}

TEST(JudgeBareTensors, AGivenTensorIsNotCompared) {
  expect_pass(judge_bare("tensor: {dtype: int16, shape: [1], fill: {const: 0}}",
                         seen_tensor("int16", {1}, "0100")));
}

Judgement judge_buffers(const std::string& expect, const json& headers, const json& buffers) {
  const Case c = case_of(
      2,
      "  v: {batch_size: [2], entries: [[a, {dtype: int16, shape: [2]}]]}\n",
      "  0: [{c10d_gather_buffers: {dst: 0, header: 3}, expect: " + expect + "}]\n  1: []\n");
  Record record;
  record.ranks = {rank_that_answered({returned(
                      {{"kind", "buffers"}, {"headers", headers}, {"buffers", buffers}})}),
                  rank_that_answered({})};
  return judge(c, record);
}

TEST(JudgeBuffers, HeadersMayHoldAny) {
  const json headers = json::parse("[[0, 0, 0], [2, 8, 99]]");
  expect_pass(judge_buffers("{headers: [[0, 0, 0], [2, 8, any]]}", headers, json::array({"", ""})));
  expect_fail(judge_buffers("{headers: [[0, 0, 0], [1, 8, any]]}", headers, json::array({"", ""})),
              "rank 0 step 1 (c10d_gather_buffers): the header of group rank 1 expected [1, 8, "
              "any] got [2,8,99]");
  expect_fail(judge_buffers("{headers: [[0, 0, 0]]}", headers, json::array({"", ""})),
              "rank 0 step 1 (c10d_gather_buffers): number of headers expected 1 got 2");
}

TEST(JudgeBuffers, StoragesStandAtTheFront) {
  // Rank 1 makes v.a = [2001, 2002]; what follows the eight bytes of the storage does not count.
  const json headers = json::parse("[[0], [12]]");
  expect_pass(judge_buffers(
      "{storages: {1: v@1}}", headers, json::array({"", "d107d20700000000deadbeef"})));
  expect_fail(
      judge_buffers("{storages: {1: v@1}}", headers, json::array({"", "d107d30700000000deadbeef"})),
      "rank 0 step 1 (c10d_gather_buffers): group rank 1: the storage of a[1] expected 2002 got "
      "2003");
  expect_fail(
      judge_buffers("{storages: {2: v@1}}", headers, json::array({"", ""})),
      "rank 0 step 1 (c10d_gather_buffers): the buffer of group rank 2 expected one got none");
}

/// Two ranks that both raise what they must not, so that each has a finding of its own.
Record two_failures() {
  Record record;
  record.ranks = {rank_that_answered({raised("value", "zero")}),
                  rank_that_answered({raised("value", "one")})};
  return record;
}

Case two_makes() {
  return case_of(2, "  v: {batch_size: [], entries: []}\n", "  \"*\": [{make: v}]\n");
}

TEST(JudgePrecedence, ACrashDecidesOverAFailure) {
  Record record = two_failures();
  record.ranks[1].answers.clear();
  record.ranks[1].in_flight = 0;
  record.ranks[1].has_crashed = true;
  record.ranks[1].exit = ExitStatus{std::nullopt, 6};
  const Judgement judgement = judge(two_makes(), record);
  EXPECT_EQ(judgement.verdict, Verdict::kCrash);
  EXPECT_EQ(judgement.signature, "rank 1 step 1 (make): killed by SIGABRT");
  EXPECT_EQ(judgement.findings.size(), 2U);
}

TEST(JudgePrecedence, AFailureDecidesOverAHang) {
  Record record = two_failures();
  record.is_hung = true;
  record.ranks[1].answers.clear();
  record.ranks[1].in_flight = 0;
  EXPECT_EQ(judge(two_makes(), record).signature,
            "rank 0 step 1 (make): raised value (SomeError: zero)");
}

TEST(JudgePrecedence, TheLowestRankSpeaksFirst) {
  EXPECT_EQ(judge(two_makes(), two_failures()).signature,
            "rank 0 step 1 (make): raised value (SomeError: zero)");
}

TEST(JudgeHang, NamesTheStepThatWasNotAnswered) {
  Record record;
  record.is_hung = true;
  record.deadline = std::chrono::milliseconds(3000);
  record.ranks = {rank_that_answered({}), rank_that_answered({})};
  record.ranks[1].in_flight = 0;
  const Judgement judgement = judge(two_makes(), record);
  EXPECT_EQ(judgement.verdict, Verdict::kHang);
  EXPECT_EQ(judgement.signature,
            "rank 1 step 1 (make): no answer within 3000 ms: rank 1 is in make(name=v); rank 1 "
            "reported no pending call");
  ASSERT_EQ(judgement.findings.size(), 1U);
}

TEST(JudgeHang, AStoppedRankIsNamedAlsoWhenAnotherOneRaised) {
  Record record = two_failures();
  record.ranks[1].answers.clear();
  record.ranks[1].in_flight = 0;
  record.ranks[1].is_silent = true;
  const Judgement judgement = judge(two_makes(), record);
  EXPECT_EQ(judgement.verdict, Verdict::kFail);
  ASSERT_EQ(judgement.findings.size(), 2U);
  EXPECT_EQ(judgement.findings[1].text,
            "rank 1 step 1 (make): answers nothing, as a stopped process does");
  record.ranks[1].is_silent = false;
  EXPECT_EQ(judge(two_makes(), record).findings.size(), 1U);
}

TEST(JudgeRaises, ALongMessageIsCutBetweenTwoLetters) {
  // The text before the message takes an odd number of bytes, and each of the letters two.
  std::string message;
  while (message.size() < 400) message += "\xc3\xa9";
  const std::string signature = judge_send("{returns: none}", raised("value", message)).signature;
  EXPECT_NO_THROW(static_cast<void>(json(signature).dump()));
  EXPECT_NO_THROW(static_cast<void>(
      json(judge_send("{returns: none}", raised("value", "x" + message)).signature).dump()));
}

TEST(JudgeHang, AJoinCanHangToo) {
  Record record;
  record.is_hung = true;
  record.ranks = {rank_that_answered({}), RankRecord{}};
  EXPECT_EQ(
      judge(two_makes(), record).signature,
      "rank 1 (join): no answer within 0 ms: rank 1 is in join; rank 1 reported no pending call");
}

TEST(JudgeJoin, WhatItRaisesIsAFailure) {
  Record record;
  record.ranks = {rank_that_answered({}), RankRecord{}};
  record.ranks[1].join = raised("connection", "no store");
  EXPECT_EQ(judge(two_makes(), record).signature,
            "rank 1 (join): raised connection (SomeError: no store)");
}

TEST(JudgeViolation, IsAnError) {
  Record record;
  record.ranks = {rank_that_answered({}), rank_that_answered({})};
  record.ranks[0].violation = "a line is not JSON: \"x\"";
  EXPECT_EQ(judge(two_makes(), record).verdict, Verdict::kError);
}

}  // namespace
}  // namespace tdconf
