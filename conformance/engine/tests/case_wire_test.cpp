// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "engine/case/case.h"
#include "engine/tests/support.h"
#include "values/hex.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

/// 17 lines. With r = rank + 1, v.a is int16 [1000 r + 1, 1000 r + 2], and the uint8 v.s.1.y, the
/// fourth leaf, begins with 1000 r + 301; w has a storage without padding, v has not.
const std::string kHead = R"(id: p2p/x
clauses: [c]
level: must
says: s
world: 3
groups: {pair: {ranks: [0, 2]}}
values:
  w: {batch_size: [], entries: [[b, {dtype: int64, shape: [1]}]]}
  v:
    batch_size: [2]
    entries:
      - [a, {dtype: int16, shape: [2]}]
      - [n, {batch_size: [2], entries: [[x, {dtype: complex64, shape: [2]}]]}]
      - - s
        - stack_dim: 0
          members: [&m {batch_size: [], entries: [[y, {dtype: uint8, shape: [3]}]]}, *m]
ranks: {"*": [{make: w}, {all_reduce: {td: w, group: pair}}]}
)";

std::vector<Message> messages_of(const std::string& list) {
  return parse_one(concat(kHead, "messages: [", list, "]\n")).messages.value();
}

std::string digest_of(const char* hex) {
  return sha256_hex(decode_hex(hex));
}

TEST(Messages, ALeafGivesKeyDTypeSizeAndContent) {
  const auto messages = messages_of("{from: 1, to: 2, tag: 6, leaf: v@0, key: [a]}");
  ASSERT_EQ(messages.size(), 1U);
  const Message& message = messages.front();
  EXPECT_EQ(message.from, 1);
  EXPECT_EQ(message.to, 2);
  EXPECT_EQ(message.tag, 6);
  EXPECT_EQ(message.group, "default");
  EXPECT_EQ(message.key, "a");
  EXPECT_EQ(message.dtype->name, "int16");
  EXPECT_EQ(message.bytes, 4);
  // 1001 and 1002.
  EXPECT_EQ(message.sha256, digest_of("e903ea03"));
}

TEST(Messages, KeysGoThroughLazyStacksByNumber) {
  const auto messages = messages_of("{from: 1, to: 2, tag: 0, leaf: v@0, key: [s, 1, y]}");
  EXPECT_EQ(messages.front().key, "s.1.y");
  // 1301, 1302 and 1303 modulo 256.
  EXPECT_EQ(messages.front().sha256, digest_of("151617"));
}

TEST(Messages, AValueWithoutARankIsThatOfTheSender) {
  const auto messages = messages_of("{from: 1, to: 2, tag: 0, leaf: v, key: [a]}");
  // 2001 and 2002.
  EXPECT_EQ(messages.front().sha256, digest_of("d107d207"));
}

TEST(Messages, OthersAreThoseOfTheGroupOfTheMessage) {
  const auto messages =
      messages_of("{from: 0, to: 2, group: pair, tag: 0, leaf: {stack: v@others}, key: [a]}");
  EXPECT_EQ(messages.front().group, "pair");
  EXPECT_EQ(messages.front().bytes, 4);
  // 3001 and 3002, as rank 2 makes them.
  EXPECT_EQ(messages.front().sha256, digest_of("b90bba0b"));
}

TEST(Messages, AStorageIsBytesWhoseDigestIsKnownWithoutPadding) {
  const auto messages =
      messages_of("{from: 0, to: 1, tag: 0, storage: w}, {from: 0, to: 1, tag: 0, storage: v}");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].dtype->name, "uint8");
  EXPECT_EQ(messages[0].bytes, 8);
  EXPECT_EQ(messages[0].sha256, digest_of("e903000000000000"));
  // 4 + 4 bytes of a, 16 of n.x, twice 3 + 5 of y.
  EXPECT_EQ(messages[1].bytes, 40);
  EXPECT_EQ(messages[1].sha256, std::nullopt);
  EXPECT_EQ(messages[1].key, "the storage");
}

TEST(Messages, ASizeSaysNothingOfTheContent) {
  const auto messages = messages_of("{from: 0, to: 1, tag: -1, dtype: float32, bytes: 12}");
  EXPECT_EQ(messages.front().tag, -1);
  EXPECT_EQ(messages.front().bytes, 12);
  EXPECT_EQ(messages.front().sha256, std::nullopt);
  EXPECT_EQ(messages.front().key, "");
}

TEST(Messages, AnySizeSaysNothingOfTheSize) {
  const auto messages = messages_of("{from: 0, to: 1, tag: 0, dtype: uint8, bytes: any}");
  EXPECT_EQ(messages.front().dtype->name, "uint8");
  EXPECT_EQ(messages.front().bytes, std::nullopt);
  EXPECT_EQ(messages.front().sha256, std::nullopt);
}

TEST(Messages, AnEmptyListIsNoAbsentList) {
  EXPECT_TRUE(messages_of("").empty());
  EXPECT_EQ(parse_one(kHead).messages, std::nullopt);
}

TEST(Transcripts, EachKeyMayBeLeftOut) {
  const Case c = parse_one(kHead +
                           "transcript: {0: {calls: [all_gather, gather]}, 2: {pickles: 1, "
                           "consolidations: 0}}\n");
  ASSERT_EQ(c.transcripts.size(), 2U);
  EXPECT_THAT(
      *c.transcripts.at(0).calls,
      ElementsAre(Field(&ExpectedCall::name, "all_gather"), Field(&ExpectedCall::name, "gather")));
  EXPECT_EQ(c.transcripts.at(0).pickles, std::nullopt);
  EXPECT_EQ(c.transcripts.at(2).calls, std::nullopt);
  EXPECT_EQ(c.transcripts.at(2).pickles, 1);
  EXPECT_EQ(c.transcripts.at(2).consolidations, 0);
}

std::vector<ExpectedCall> calls_of(const std::string& list) {
  return parse_one(concat(kHead, "transcript: {0: {calls: [", list, "]}}\n"))
      .transcripts.at(0)
      .calls.value();
}

TEST(Calls, MaySayWhatTheRanksTensorIsAndWhoTheRoot) {
  const auto calls = calls_of(
      "{broadcast: {dtype: int64, bytes: 16, root: 2, group: pair}}, {gather: {bytes: any}}");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].name, "broadcast");
  EXPECT_EQ(calls[0].dtype->name, "int64");
  EXPECT_EQ(calls[0].bytes, 16);
  EXPECT_EQ(calls[0].root, 2);
  EXPECT_EQ(calls[0].group, "pair");
  EXPECT_EQ(calls[1].name, "gather");
  EXPECT_EQ(calls[1].dtype, nullptr);
  EXPECT_EQ(calls[1].bytes, std::nullopt);
  EXPECT_EQ(calls[1].root, std::nullopt);
  EXPECT_EQ(calls[1].group, std::nullopt);
}

TEST(Calls, TakeTheirFieldsFromAxes) {
  const auto cases = parse(
      concat(kHead, "axes: {src: [1]}\ntranscript: {0: {calls: [{reduce: {root: $src}}]}}\n"));
  EXPECT_EQ(cases.front().transcripts.at(0).calls->front().root, 1);
}

TEST(BrokenBy, IsKept) {
  EXPECT_EQ(parse_one(kHead).broken_by, std::nullopt);
  EXPECT_EQ(parse_one(kHead + "broken_by: tags from 1\n").broken_by, "tags from 1");
  EXPECT_THAT(error_of(kHead + "broken_by: ''\n"),
              HasSubstr("case.yaml:18: in broken_by: got \"\", allowed: a sentence"));
}

struct Broken {
  const char* name;
  const char* yaml;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class BrokenMessage : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenMessage, IsRefusedWithItsPlace) {
  EXPECT_THAT(error_of(concat(kHead, "messages:\n  - ", GetParam().yaml, "\n")),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    WireParser,
    BrokenMessage,
    ::testing::Values(
        Broken{"rank",
               "{from: 3, to: 0, tag: 0, storage: v}",
               "case.yaml:19: in from: got 3, allowed: ranks 0 to 2"},
        Broken{"itself",
               "{from: 0, to: 0, tag: 0, storage: v}",
               "in to: got 0, allowed: another rank than `from`"},
        Broken{"group",
               "{from: 0, to: 1, group: trio, tag: 0, storage: v}",
               "in group: got \"trio\", allowed: the groups default, pair"},
        Broken{"member",
               "{from: 0, to: 1, group: pair, tag: 0, storage: v}",
               "in to: got 1, allowed: the ranks 0, 2 of group `pair`"},
        Broken{"no_tag", "{from: 0, to: 1, storage: v}", "in a message: `tag` is missing"},
        Broken{"nothing",
               "{from: 0, to: 1, tag: 0}",
               "case.yaml:19: in a message: exactly one of `leaf` with `key`, `storage`, `dtype` "
               "with `bytes` is needed"},
        Broken{"two", "{from: 0, to: 1, tag: 0, storage: v, dtype: bool, bytes: 1}", "exactly one"},
        Broken{"no_key", "{from: 0, to: 1, tag: 0, leaf: v}", "exactly one of"},
        Broken{"no_bytes", "{from: 0, to: 1, tag: 0, dtype: bool}", "exactly one of"},
        Broken{"storage_key", "{from: 0, to: 1, tag: 0, storage: v, key: [a]}", "exactly one of"},
        Broken{"key",
               "{from: 0, to: 1, tag: 0, leaf: v, key: [n]}",
               "in key: got [\"n\"], allowed: the tensors a, n.x, s.0.y, s.1.y"},
        Broken{"value",
               "{from: 0, to: 1, tag: 0, storage: u}",
               "in a reference: got `u`, allowed: the values v, w"},
        Broken{"dtype",
               "{from: 0, to: 1, tag: 0, dtype: int, bytes: 8}",
               "in a message: unknown dtype `int`, allowed: bool"},
        Broken{"bytes",
               "{from: 0, to: 1, tag: 0, dtype: int64, bytes: 15}",
               "in bytes: got 15, allowed: 0 and more, a multiple of 8"},
        Broken{"unknown",
               "{from: 0, to: 1, tag: 0, storage: v, content: 1}",
               "in a message: got key \"content\", allowed: from, to"}));

class BrokenTranscript : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenTranscript, IsRefusedWithItsPlace) {
  EXPECT_THAT(error_of(concat(kHead, "transcript: ", GetParam().yaml, "\n")),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    WireParser,
    BrokenTranscript,
    ::testing::Values(
        Broken{"rank",
               "{3: {pickles: 0}}",
               "case.yaml:18: in transcript: got 3, allowed: ranks 0 to 2"},
        Broken{"empty", "{}", "in transcript: got {}, allowed: at least one rank"},
        Broken{"nothing",
               "{0: {}}",
               "in transcript: got {}, allowed: at least one of calls, pickles, consolidations"},
        Broken{"send",
               "{0: {calls: [send]}}",
               "in calls: got \"send\", allowed: all_gather, all_reduce, "},
        Broken{"misspelt",
               "{0: {calls: [all_gather, all_gathr]}}",
               "case.yaml:18: in calls: got \"all_gathr\", allowed: all_gather, "},
        Broken{"call",
               "{0: {calls: [{send: {bytes: 1}}]}}",
               "in calls: got \"send\", allowed: all_gather, all_reduce, "},
        Broken{"two_calls",
               "{0: {calls: [{gather: {}, reduce: {}}]}}",
               "in calls: got {\"gather\":{},\"reduce\":{}}, allowed: one call in each element"},
        Broken{"no_root",
               "{0: {calls: [{all_gather: {root: 0}}]}}",
               "in root: got 0, allowed: none, since all_gather has no root"},
        Broken{"root", "{0: {calls: [{gather: {root: 3}}]}}", "in root: got 3, allowed: ranks 0"},
        Broken{"member",
               "{0: {calls: [{gather: {root: 1, group: pair}}]}}",
               "in root: got 1, allowed: the ranks 0, 2 of group `pair`"},
        Broken{"group",
               "{0: {calls: [{gather: {group: trio}}]}}",
               "in group: got \"trio\", allowed: the groups default, pair"},
        Broken{"dtype", "{0: {calls: [{gather: {dtype: int}}]}}", "in gather: unknown dtype `int`"},
        Broken{"bytes",
               "{0: {calls: [{gather: {dtype: int64, bytes: 15}}]}}",
               "in bytes: got 15, allowed: 0 and more, a multiple of 8"},
        Broken{"field",
               "{0: {calls: [{gather: {tag: 1}}]}}",
               "in `gather`: got key \"tag\", allowed: dtype, bytes, root, group"},
        Broken{"count", "{0: {pickles: -1}}", "in pickles: got -1, allowed: 0 and more"},
        Broken{"unknown",
               "{0: {sends: 1}}",
               "in transcript: got key \"sends\", allowed: calls, pickles, consolidations"}));

std::string with_steps(const std::string& rank_0, const std::string& rank_1) {
  return concat("id: p2p/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 2\n",
                "values: {v: {batch_size: [], entries: []}}\nranks:\n",
                "  0: [",
                rank_0,
                "]\n  1: [",
                rank_1,
                "]\n");
}

TEST(Blocks, NamesAStepOfAnotherRankBesideAnyKey) {
  const Case c = parse_one(with_steps("{make: v, label: made}",
                                      "{make: v, expect: {blocks: 0.made, keys: []}}, "
                                      "{snapshot: v, expect: {raises: value}}"));
  EXPECT_EQ(c.programs[1][0].expect.blocks, (StepId{0, 0}));
  EXPECT_TRUE(c.programs[1][0].expect.keys.has_value());
  EXPECT_EQ(c.programs[1][1].expect.blocks, std::nullopt);
  EXPECT_EQ(parse_one(with_steps("{make: v, label: made}",
                                 "{make: v, expect: {blocks: 0.made, raises: value}}"))
                .programs[1][0]
                .expect.blocks,
            (StepId{0, 0}));
}

TEST(Blocks, TheBlockedStepMayWaitForOthersToo) {
  EXPECT_EQ(error_of(with_steps("{make: v, label: first}, {snapshot: v, label: last}",
                                "{make: v, expect: {blocks: 0.last}, after: 0.first}")),
            "no error");
}

TEST(Blocks, UnknownLabelsAndOwnStepsAreRefused) {
  EXPECT_THAT(error_of(with_steps("{make: v, label: a}", "{make: v, expect: {blocks: 0.b}}")),
              HasSubstr("case.yaml:9: in blocks: got \"0.b\", allowed: the labels 0.a"));
  EXPECT_THAT(error_of(with_steps("{make: v, label: a}", "{make: v, expect: {blocks: 2.a}}")),
              HasSubstr("in blocks: got \"2.a\", allowed: the labels 0.a"));
  EXPECT_THAT(error_of(with_steps("", "{make: v, expect: {blocks: 1.b}}, {snapshot: v, label: b}")),
              HasSubstr("in blocks: got \"1.b\", allowed: a step of another rank"));
}

TEST(Blocks, ACircleWithAfterIsRefused) {
  constexpr const char* kNeverAnswered =
      "in blocks: this step blocks a step that waits for it in a circle";
  constexpr const char* kNeverReleased =
      "in after: this step waits in a circle and is never released";
  // The blocked step waits for the blocking one.
  EXPECT_THAT(error_of(with_steps("{make: v, label: a, after: 1.b}",
                                  "{make: v, label: b, expect: {blocks: 0.a}}")),
              HasSubstr(concat("case.yaml:9: ", kNeverAnswered)));
  // It stands behind one that does.
  EXPECT_THAT(error_of(with_steps("{make: v, after: 1.b}, {snapshot: v, label: a}",
                                  "{make: v, label: b, expect: {blocks: 0.a}}")),
              HasSubstr(kNeverAnswered));
  // The blocking step waits for the blocked one.
  EXPECT_THAT(
      error_of(with_steps("{make: v, label: a}", "{make: v, after: 0.a, expect: {blocks: 0.a}}")),
      HasSubstr(kNeverReleased));
  // Two steps of one rank cannot be in progress at once.
  EXPECT_THAT(error_of(with_steps(
                  "{make: v, label: a}",
                  "{make: v, expect: {blocks: 0.a}}, {snapshot: v, expect: {blocks: 0.a}}")),
              HasSubstr(kNeverAnswered));
}

TEST(Steps, KeepTheirLabelAndTheDocumentOfTheirExpectation) {
  const Case c = parse_one(with_steps("{make: v, label: a}", "{make: v, expect: {blocks: 0.a}}"));
  EXPECT_EQ(c.programs[0][0].label, "a");
  EXPECT_EQ(c.programs[0][0].expect_document, nullptr);
  EXPECT_EQ(c.programs[1][0].label, "");
  EXPECT_EQ(c.programs[1][0].expect_document, nlohmann::json({{"blocks", "0.a"}}));
}

}  // namespace
}  // namespace tdconf
