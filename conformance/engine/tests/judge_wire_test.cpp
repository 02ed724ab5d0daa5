// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "engine/judge/judge.h"
#include "engine/judge/results.h"
#include "engine/tests/support.h"
#include "values/hex.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

std::string digest_of(const char* hex) {
  return sha256_hex(decode_hex(hex));
}

Event transfer(const char* kind, int peer, std::int64_t tag, const char* dtype, const char* hex) {
  Event event;
  event.event = kind;
  event.group = "default";
  event.peer = peer;
  event.tag = tag;
  event.dtype = dtype;
  event.bytes = static_cast<std::int64_t>(decode_hex(hex).size());
  event.sha256 = digest_of(hex);
  event.done = true;
  event.step = 1;
  return event;
}

Event sent(std::int64_t tag, const char* dtype, const char* hex) {
  return transfer("send", 1, tag, dtype, hex);
}

Event received(std::int64_t tag, const char* dtype, const char* hex) {
  return transfer("recv", 0, tag, dtype, hex);
}

Event in_group(Event event, const char* group) {
  event.group = group;
  return event;
}

Event not_done(Event event) {
  event.done = false;
  event.sha256.reset();
  return event;
}

Event happened(const char* kind, int step) {
  Event event;
  event.event = kind;
  event.step = step;
  return event;
}

/// v.a is int16 [1001, 1002] = e903ea03 and v.b complex64 with the parts 1101, -1101.
const char* const kA = "e903ea03";
const char* const kB = "00a0894400a089c4";

/// Rank 0 sends `v` and rank 1 receives it, each in its second step.
Case transfer_case(const std::string& more) {
  return parse_one(concat(R"(id: t/x
clauses: [c]
level: must
says: s
world: 2
groups: {pair: {ranks: [0, 1]}}
values:
  v:
    batch_size: []
    entries: [[a, {dtype: int16, shape: [2]}], [b, {dtype: complex64, shape: []}]]
ranks:
  0: [{make: v}, {send: {td: v, dst: 1, group: pair}}]
  1: [{make: v}, {recv: {td: v, src: 0, group: pair}}]
)",
                          more));
}

const char* const kMessages =
    "messages:\n"
    "  - {from: 0, to: 1, tag: 0, leaf: v@0, key: [a]}\n"
    "  - {from: 0, to: 1, tag: 1, leaf: v@0, key: [b]}\n";

Answer made() {
  return returned_snapshot(seen_dict({}, {}));
}

Answer none() {
  return returned({{"kind", "none"}});
}

Record record_of(const std::optional<Transcript>& of_0, const std::optional<Transcript>& of_1) {
  Record record;
  record.ranks = {rank_that_answered({made(), none()}), rank_that_answered({made(), none()})};
  record.ranks[0].transcript = of_0;
  record.ranks[1].transcript = of_1;
  return record;
}

Judgement judge_transfer(const std::string& more,
                         const std::optional<Transcript>& of_0,
                         const std::optional<Transcript>& of_1) {
  return judge(transfer_case(more), record_of(of_0, of_1));
}

void expect_pass(const Judgement& judgement) {
  EXPECT_EQ(judgement.verdict, Verdict::kPass) << judgement.signature;
}

void expect_fail(const Judgement& judgement, const std::string& signature) {
  EXPECT_EQ(to_string(judgement.verdict), "fail");
  EXPECT_EQ(judgement.signature, signature);
}

TEST(JudgeBothEnds, TheSameBytesPass) {
  expect_pass(judge_transfer("", {{sent(0, "int16", kA)}}, {{received(0, "int16", kA)}}));
  // A sender may hand over the real parts of what the receiver calls complex.
  expect_pass(judge_transfer("", {{sent(0, "float32", kB)}}, {{received(0, "complex64", kB)}}));
}

TEST(JudgeBothEnds, OtherBytesNameBothRanksAndTheTag) {
  expect_fail(
      judge_transfer("", {{sent(7, "int16", kA)}}, {{received(7, "int16", "e903ea04")}}),
      concat("rank 1 step 2 (recv): message 1 under tag 7 from rank 0 step 2 (send): what was "
             "received expected 4 bytes, sha256 ",
             digest_of(kA).substr(0, 12),
             " got 4 bytes, sha256 ",
             digest_of("e903ea04").substr(0, 12)));
}

TEST(JudgeBothEnds, AnotherSizeIsEnough) {
  Event small = sent(7, "uint8", "00");
  small.sha256.reset();
  expect_fail(judge_transfer("", {{small}}, {{received(7, "int16", kA)}}),
              concat("rank 1 step 2 (recv): message 1 under tag 7 from rank 0 step 2 (send): what "
                     "was received expected 1 bytes got 4 bytes, sha256 ",
                     digest_of(kA).substr(0, 12)));
}

TEST(JudgeBothEnds, TheNthMessageUnderATagMeetsTheNth) {
  const Transcript sends{
      sent(0, "int16", "0100"), sent(1, "int16", "0200"), sent(0, "int16", "0300")};
  expect_pass(judge_transfer("",
                             sends,
                             {{received(1, "int16", "0200"),
                               received(0, "int16", "0100"),
                               received(0, "int16", "0300")}}));
  const Judgement swapped =
      judge_transfer("", sends, {{received(0, "int16", "0300"), received(0, "int16", "0100")}});
  EXPECT_THAT(swapped.signature, HasSubstr("message 1 under tag 0"));
  EXPECT_EQ(swapped.findings.size(), 2U);
}

TEST(JudgeBothEnds, GroupsKeepTheirTagsApart) {
  const Transcript sends{in_group(sent(0, "int16", "0100"), "pair"), sent(0, "int16", "0200")};
  expect_pass(judge_transfer(
      "", sends, {{received(0, "int16", "0200"), in_group(received(0, "int16", "0100"), "pair")}}));
  EXPECT_THAT(
      judge_transfer("", sends, {{in_group(received(0, "int16", "0200"), "pair")}}).signature,
      HasSubstr("message 1 under tag 0 in group `pair` from rank 0"));
}

TEST(JudgeBothEnds, WhatIsNotReceivedIsNotCompared) {
  // The receive that is not done keeps its place under the tag.
  expect_pass(
      judge_transfer("",
                     {{sent(0, "int16", "0100"), sent(0, "int16", "0200")}},
                     {{not_done(received(0, "int16", "0900")), received(0, "int16", "0200")}}));
  expect_pass(judge_transfer("", {{sent(0, "int16", kA)}}, std::nullopt));
  expect_pass(judge_transfer("", std::nullopt, {{received(0, "int16", kA)}}));
}

TEST(JudgeBothEnds, NobodyReceivesMoreThanWasSent) {
  expect_fail(
      judge_transfer(
          "", {{sent(0, "int16", kA)}}, {{received(0, "int16", kA), received(0, "int16", kA)}}),
      "rank 1 step 2 (recv): messages received under tag 0 from rank 0 expected 1, as sent, "
      "got 2");
  expect_fail(
      judge_transfer("", Transcript(), {{received(3, "int16", kA)}}),
      "rank 1 step 2 (recv): messages received under tag 3 from rank 0 expected 0, as sent, "
      "got 1");
}

TEST(JudgeBothEnds, IsDoneAfterAHangToo) {
  Record record = record_of({{sent(0, "int16", kA)}}, {{received(0, "int16", "e903ea04")}});
  record.is_hung = true;
  record.ranks[1].answers.pop_back();
  record.ranks[1].in_flight = 1;
  EXPECT_EQ(judge(transfer_case(""), record).verdict, Verdict::kFail);
}

/// A collective call of a rank, done.
Event call(const char* name, std::optional<int> root, const char* dtype, const char* hex) {
  Event event = transfer(name, 0, 0, dtype, hex);
  event.peer = root;
  event.tag.reset();
  return event;
}

TEST(JudgeCollectives, AllRanksHoldTheSame) {
  for (const std::optional<int> root : {0, 1}) {
    const Event broadcast = call("broadcast", root, "int16", kA);
    expect_pass(judge_transfer("", {{broadcast}}, {{broadcast}}));
  }
  const Event reduced = call("all_reduce", std::nullopt, "float32", kB);
  expect_pass(judge_transfer("", {{reduced}}, {{reduced}}));
}

TEST(JudgeCollectives, OtherBytesThanTheRootsNameBothRanks) {
  expect_fail(
      judge_transfer(
          "", {{call("broadcast", 1, "int16", "e903ea04")}}, {{call("broadcast", 1, "int16", kA)}}),
      concat("rank 0 step 2 (send): collective call 1: what broadcast gave, as on rank 1 "
             "step 2 (recv) expected 4 bytes, sha256 ",
             digest_of(kA).substr(0, 12),
             " got 4 bytes, sha256 ",
             digest_of("e903ea04").substr(0, 12)));
}

TEST(JudgeCollectives, AnotherResultIsThatOfTheLaterRank) {
  const Event first = in_group(call("all_reduce", {}, "int16", kA), "pair");
  const Event other = in_group(call("all_reduce", {}, "int16", "e903ea04"), "pair");
  EXPECT_THAT(judge_transfer("", {{first, first}}, {{first, other}}).signature,
              HasSubstr("rank 1 step 2 (recv): collective call 2 in group `pair`: what all_reduce "
                        "gave, as on rank 0 step 2 (send) expected 4 bytes"));
}

TEST(JudgeCollectives, WhatIsNotDoneOrNotTheSameCallIsNotCompared) {
  const auto passes = [](const Event& here, const Event& there) {
    expect_pass(judge_transfer("", {{here}}, {{there}}));
  };
  const Event broadcast = call("broadcast", 0, "int16", kA);
  const Event other = call("broadcast", 0, "int16", "e903ea04");
  passes(broadcast, not_done(other));
  passes(broadcast, call("broadcast", 1, "int16", "e903ea04"));
  passes(broadcast, call("reduce", 0, "int16", "e903ea04"));
  passes(broadcast, in_group(other, "pair"));
  passes(not_done(call("all_reduce", {}, "int16", kA)), call("all_reduce", {}, "int16", kA));
  // Each rank gathers what is its own, and only the root of a reduction holds the result.
  passes(call("all_gather", {}, "int16", kA), call("all_gather", {}, "int16", "e903ea04"));
  passes(call("reduce", 0, "int16", kA), call("reduce", 0, "int16", "e903ea04"));
  expect_pass(judge_transfer("", std::nullopt, {{other}}));
}

TEST(JudgeCollectives, ARootThatNeverWaitedHasHandedItsBytesOver) {
  Event given = call("broadcast", 0, "int16", kA);
  given.done = false;
  EXPECT_EQ(
      to_string(
          judge_transfer("", {{given}}, {{call("broadcast", 0, "int16", "e903ea04")}}).verdict),
      "fail");
}

TEST(JudgeMessages, WhatTheCaseListsPasses) {
  expect_pass(judge_transfer(kMessages,
                             {{sent(0, "int16", kA), sent(1, "float32", kB)}},
                             {{received(1, "complex64", kB), received(0, "int16", kA)}}));
  expect_pass(judge_transfer(kMessages, {{sent(0, "int16", kA), sent(1, "complex64", kB)}}, {}));
}

TEST(JudgeMessages, ARankWithoutATranscriptIsNotLookedAt) {
  expect_pass(judge_transfer(kMessages, std::nullopt, std::nullopt));
}

TEST(JudgeMessages, ATransferIsSentInTheOrderOfTheList) {
  expect_fail(
      judge_transfer(kMessages, {{sent(1, "float32", kB), sent(0, "int16", kA)}}, std::nullopt),
      "rank 0 step 2 (send): message 2 from rank 0 to rank 1: expected tag 1 (b, complex64, 8 "
      "bytes) behind message 1 got it earlier");
}

TEST(JudgeMessages, TransfersMayRunAtTheSameTime) {
  const std::string messages = concat(kMessages,
                                      "  - {from: 0, to: 1, tag: 7, dtype: int16, bytes: 4}\n"
                                      "  - {from: 0, to: 1, tag: 5, dtype: int16, bytes: 4}\n");
  expect_pass(judge_transfer(
      messages,
      {{sent(5, "int16", kA), sent(0, "int16", kA), sent(7, "int16", kA), sent(1, "float32", kB)}},
      std::nullopt));
}

TEST(JudgeMessages, EachPropertyOfWhatIsSentCounts) {
  const auto signature = [](const Event& second) {
    return judge_transfer(kMessages, {{sent(0, "int16", kA), second}}, std::nullopt).signature;
  };
  const std::string expected =
      "rank 0 step 2 (send): message 2 from rank 0 to rank 1: expected tag 1 (b, complex64, 8 "
      "bytes) got ";
  EXPECT_EQ(signature(sent(2, "float32", kB)), expected + "tag 2 (float32, 8 bytes)");
  EXPECT_EQ(signature(sent(1, "int64", kB)), expected + "tag 1 (int64, 8 bytes)");
  EXPECT_EQ(signature(sent(1, "float32", "00a08944")), expected + "tag 1 (float32, 4 bytes)");
  EXPECT_EQ(signature(in_group(sent(1, "float32", kB), "pair")),
            expected + "tag 1 in group `pair` (float32, 8 bytes)");
  EXPECT_EQ(signature(sent(1, "float32", "00a0894400a08944")),
            concat("rank 0 step 2 (send): message 2 from rank 0 to rank 1: expected tag 1 (b, "
                   "complex64, 8 bytes, sha256 ",
                   digest_of(kB).substr(0, 12),
                   ") got tag 1 (float32, 8 bytes, sha256 ",
                   digest_of("00a0894400a08944").substr(0, 12),
                   ")"));
}

TEST(JudgeMessages, MissingAndSurplusMessagesAreNamed) {
  expect_fail(judge_transfer(kMessages, {{sent(0, "int16", kA)}}, std::nullopt),
              "rank 0: message 2 from rank 0 to rank 1: expected tag 1 (b, complex64, 8 bytes) got "
              "none");
  expect_fail(
      judge_transfer(kMessages,
                     {{sent(0, "int16", kA), sent(1, "float32", kB), sent(2, "int16", kA)}},
                     std::nullopt),
      "rank 0 step 2 (send): message 3 from rank 0 to rank 1: expected none got tag 2 (int16, 4 "
      "bytes)");
}

TEST(JudgeMessages, AReceiverIsComparedByTagAndSize) {
  const auto signature = [](const Transcript& of_1) {
    return judge_transfer(kMessages, std::nullopt, of_1).signature;
  };
  EXPECT_EQ(signature({received(0, "uint8", kA), received(1, "complex64", kB)}), "");
  EXPECT_EQ(
      signature({received(0, "int16", kA), received(2, "float32", kB)}),
      "rank 1 step 2 (recv): message 2 from rank 0 to rank 1, as received: expected tag 1 (b, "
      "complex64, 8 bytes) got tag 2 (float32, 8 bytes)");
  EXPECT_EQ(
      signature({received(0, "int16", kA), received(1, "int16", kA)}),
      "rank 1 step 2 (recv): message 2 from rank 0 to rank 1, as received: expected tag 1 (b, "
      "complex64, 8 bytes) got tag 1 (int16, 4 bytes)");
  EXPECT_EQ(signature({received(0, "int16", kA)}),
            "rank 1: message 2 from rank 0 to rank 1, as received: expected tag 1 (b, complex64, 8 "
            "bytes) got none");
  EXPECT_EQ(signature({received(0, "int16", kA),
                       received(1, "complex64", kB),
                       not_done(received(1, "int16", kA))}),
            "rank 1 step 2 (recv): message 3 from rank 0 to rank 1, as received: expected none got "
            "tag 1 (int16, 4 bytes)");
}

TEST(JudgeMessages, AnySizeFitsUnderTheTagAndWithTheDTypeOfTheCase) {
  const char* const any = "messages: [{from: 0, to: 1, tag: 0, dtype: uint8, bytes: any}]\n";
  expect_pass(judge_transfer(any, {{sent(0, "uint8", kA)}}, {{received(0, "uint8", kA)}}));
  expect_pass(judge_transfer(any, {{sent(0, "uint8", "")}}, {{received(0, "uint8", "")}}));
  const std::string expected =
      "rank 0 step 2 (send): message 1 from rank 0 to rank 1: expected tag 0 (uint8, any number of "
      "bytes) got ";
  expect_fail(judge_transfer(any, {{sent(1, "uint8", kA)}}, std::nullopt),
              expected + "tag 1 (uint8, 4 bytes)");
  expect_fail(judge_transfer(any, {{sent(0, "int16", kA)}}, std::nullopt),
              expected + "tag 0 (int16, 4 bytes)");
  // Both ends are compared all the same.
  EXPECT_EQ(
      to_string(
          judge_transfer(any, {{sent(0, "uint8", kA)}}, {{received(0, "uint8", "e9")}}).verdict),
      "fail");
}

TEST(JudgeMessages, AnEmptyListMeansThatNothingTravels) {
  const char* const nothing = "messages: []\n";
  expect_pass(judge_transfer(nothing, {{happened("all_gather", 1)}}, Transcript{}));
  expect_fail(judge_transfer(nothing, {{sent(0, "int16", kA)}}, Transcript{}),
              "rank 0 step 2 (send): message 1 from rank 0 to rank 1: expected none got tag 0 "
              "(int16, 4 bytes)");
  expect_fail(judge_transfer(nothing, Transcript{}, {{not_done(received(0, "int16", kA))}}),
              "rank 1 step 2 (recv): message 1 from rank 0 to rank 1, as received: expected none "
              "got tag 0 (int16, 4 bytes)");
}

TEST(JudgeMessages, ARankThatRaisedAsExpectedIsLookedAtToo) {
  Case c = transfer_case("messages: []\n");
  c.programs[0][1].expect.raises = {"value"};
  Record record = record_of({{sent(0, "int16", kA)}}, Transcript{});
  record.ranks[0].answers[1] = raised("value", "text");
  EXPECT_THAT(judge(c, record).signature, HasSubstr("expected none got tag 0"));
}

TEST(JudgeMessages, WhatAHangOrACrashCutsOffIsNoFinding) {
  Record record = record_of(Transcript{}, Transcript{});
  record.is_hung = true;
  record.ranks[0].answers.pop_back();
  record.ranks[0].in_flight = 1;
  const Judgement hung = judge(transfer_case(kMessages), record);
  EXPECT_EQ(hung.verdict, Verdict::kHang);
  EXPECT_EQ(hung.findings.size(), 1U);
  record.is_hung = false;
  record.ranks[0].has_crashed = true;
  record.ranks[0].exit = ExitStatus{std::nullopt, 6};
  EXPECT_EQ(judge(transfer_case(kMessages), record).findings.size(), 1U);
}

TEST(JudgeMessages, WhatAStepAnsweredSpeaksFirst) {
  Record record = record_of(Transcript{}, Transcript{});
  record.ranks[1].answers[1] = raised("value", "text");
  EXPECT_EQ(judge(transfer_case(kMessages), record).signature,
            "rank 1 step 2 (recv): raised value (SomeError: text)");
}

const char* const kTranscript =
    "transcript: {0: {calls: [all_gather, gather], pickles: 1, consolidations: 0}}\n";

const Transcript kGathering{
    happened("pickle", 1), happened("all_gather", 1), happened("gather", 1)};

Transcript with(Event event) {
  Transcript transcript = kGathering;
  transcript.push_back(std::move(event));
  return transcript;
}

TEST(JudgeTranscript, CountsOutsideMakeAndConsolidate) {
  expect_pass(judge_transfer(kTranscript, kGathering, std::nullopt));
  expect_pass(judge_transfer(kTranscript, with(happened("consolidate", 0)), std::nullopt));
  expect_pass(judge_transfer(kTranscript, with(happened("unpickle", 1)), std::nullopt));
  expect_pass(judge_transfer(kTranscript, with(sent(0, "int16", kA)), std::nullopt));
  expect_pass(judge_transfer(kTranscript, std::nullopt, Transcript{}));
}

TEST(JudgeTranscript, EachOfTheThreeCounts) {
  expect_fail(judge_transfer(kTranscript, with(happened("consolidate", 1)), std::nullopt),
              "rank 0 step 2 (send): consolidations expected 0 got 1");
  expect_fail(judge_transfer(kTranscript, with(happened("pickle", 1)), std::nullopt),
              "rank 0 step 2 (send): pickles expected 1 got 2");
  expect_fail(judge_transfer(kTranscript, with(happened("broadcast", 1)), std::nullopt),
              "rank 0 step 2 (send): collective calls expected all_gather, gather got all_gather, "
              "gather, broadcast");
}

TEST(JudgeTranscript, WhatIsMissingBelongsToNoStep) {
  const Judgement judgement = judge_transfer(kTranscript, Transcript{}, std::nullopt);
  expect_fail(judgement, "rank 0: collective calls expected all_gather, gather got none");
  ASSERT_EQ(judgement.findings.size(), 2U);
  EXPECT_EQ(judgement.findings[1].text, "rank 0: pickles expected 1 got 0");
}

const char* const kSizedCalls =
    "transcript:\n"
    "  0: {calls: [{broadcast: {dtype: int64, bytes: 8, root: 1, group: default}}, gather]}\n";

const char* const kEight = "0102030405060708";

TEST(JudgeTranscript, ACallIsAsTheCaseSays) {
  const Event gather = call("gather", 0, "uint8", "00");
  expect_pass(judge_transfer(kSizedCalls, {{call("broadcast", 1, "int64", kEight), gather}}, {}));
  const auto signature = [&](const Event& first) {
    return judge_transfer(kSizedCalls, {{first, gather}}, std::nullopt).signature;
  };
  const std::string expected =
      "rank 0 step 2 (send): collective call 1: expected broadcast (int64, 8 bytes, root 1, group "
      "default) got broadcast ";
  EXPECT_EQ(signature(call("broadcast", 1, "uint8", kEight)),
            expected + "(uint8, 8 bytes, root 1, group default)");
  EXPECT_EQ(signature(call("broadcast", 1, "int64", "")),
            expected + "(int64, 0 bytes, root 1, group default)");
  EXPECT_EQ(signature(call("broadcast", 0, "int64", kEight)),
            expected + "(int64, 8 bytes, root 0, group default)");
  EXPECT_EQ(signature(call("broadcast", std::nullopt, "int64", kEight)),
            expected + "(int64, 8 bytes, no root, group default)");
  EXPECT_EQ(signature(in_group(call("broadcast", 1, "int64", kEight), "pair")),
            expected + "(int64, 8 bytes, root 1, group pair)");
}

TEST(JudgeTranscript, ANameStandsForAnyCallOfThatName) {
  const char* const named = "transcript: {0: {calls: [{broadcast: {bytes: any}}, broadcast]}}\n";
  expect_pass(
      judge_transfer(named,
                     {{call("broadcast", 1, "int64", kEight), call("broadcast", 0, "uint8", "")}},
                     std::nullopt));
}

TEST(JudgeTranscript, AComplexTensorMayBeReportedAsItsParts) {
  const char* const complex =
      "transcript: {0: {calls: [{all_reduce: {dtype: complex64, bytes: 8}}]}}\n";
  for (const char* dtype : {"complex64", "float32"}) {
    expect_pass(judge_transfer(complex, {{call("all_reduce", {}, dtype, kEight)}}, std::nullopt));
  }
  expect_fail(judge_transfer(complex, {{call("all_reduce", {}, "int64", kEight)}}, std::nullopt),
              "rank 0 step 2 (send): collective call 1: expected all_reduce (complex64, 8 bytes) "
              "got all_reduce (int64, 8 bytes)");
}

TEST(JudgeTranscript, EventsOutsideAnyStepCount) {
  Event late = happened("pickle", 1);
  late.step.reset();
  expect_fail(judge_transfer(kTranscript, with(late), std::nullopt),
              "rank 0: pickles expected 1 got 2");
}

TEST(JudgeTranscript, ARankOfWhichNothingIsSaidMayDoAnything) {
  expect_pass(judge_transfer(kTranscript, std::nullopt, {{happened("pickle", 1)}}));
}

/// Rank 0 blocks until the second step of rank 1 is released, and then gives this answer.
Judgement judge_blocking(const std::string& expect,
                         const Answer& answer,
                         int answered,
                         const std::vector<int>& released) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: []}\n",
                         concat("  0: [{make: v}, {send: {td: v, dst: 1}, expect: {blocks: 1.recv",
                                expect,
                                "}}]\n  1: [{make: v}, {recv: {td: v, src: 0}, label: recv}]\n"));
  Record record = record_of(std::nullopt, std::nullopt);
  record.ranks[0].answers[1] = answer;
  record.ranks[0].released = {0, 4};
  record.ranks[0].answered = {2, answered};
  record.ranks[1].released = released;
  record.ranks[1].answered = {3, 7};
  return judge(c, record);
}

TEST(JudgeBlocks, AnAnswerAfterTheReleasePasses) {
  expect_pass(judge_blocking("", none(), 6, {1, 5}));
}

TEST(JudgeBlocks, AnAnswerBeforeTheReleaseFails) {
  const std::string early =
      "rank 0 step 2 (send): returned before rank 1 step 2 (recv) was released, must block until "
      "then";
  expect_fail(judge_blocking("", none(), 5, {1, 6}), early);
  // It was never released.
  expect_fail(judge_blocking("", none(), 5, {1}), early);
}

TEST(JudgeBlocks, StandsBesideAnExpectedError) {
  expect_pass(judge_blocking(", raises: value", raised("value", "text"), 6, {1, 5}));
  expect_fail(judge_blocking(", raises: value", raised("value", "text"), 5, {1, 6}),
              "rank 0 step 2 (send): raised before rank 1 step 2 (recv) was released, must block "
              "until then");
}

TEST(JudgeBlocks, AnErrorThatIsNotExpectedIsTheOnlyFinding) {
  const Judgement judgement = judge_blocking("", raised("value", "text"), 5, {1});
  EXPECT_EQ(judgement.findings.size(), 1U);
  expect_fail(judgement, "rank 0 step 2 (send): raised value (SomeError: text)");
}

TEST(Results, SayWhatTheCaseSaysAndWhatItFinds) {
  CaseResult result;
  result.says = "it works";
  EXPECT_EQ(to_json(result)["says"], "it works");
  EXPECT_EQ(to_json(result)["broken_by"], nullptr);
  result.broken_by = "doing nothing";
  EXPECT_EQ(to_json(result)["broken_by"], "doing nothing");
}

}  // namespace
}  // namespace tdconf
