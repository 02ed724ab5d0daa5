// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/waits.h"

#include <gmock/gmock.h>

#include "engine/tests/support.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::Field;

constexpr const char* kValue = "  v: {batch_size: [], entries: []}\n";

/// Rank 0 receives and sends, rank 1 sends and receives.
Case two_ranks() {
  return case_of(2, kValue, R"(
  0:
    - make: v
    - recv: {td: v, src: 1, init_tag: 3}
    - send: {td: v, dst: 1, init_tag: 5}
  1:
    - make: v
    - send: {td: v, dst: 0, init_tag: 3}
      expect: {raises: value}
    - recv: {td: v, src: 0, init_tag: 7}
)");
}

Case three_ranks() {
  return case_of(3, kValue, R"(
  "*":
    - make: v
    - gather_and_stack: {td: v, dst: 0}
)");
}

Event message(const std::string& event, int peer, std::int64_t tag, int step, bool done) {
  Event made;
  made.event = event;
  made.group = "default";
  made.peer = peer;
  made.tag = tag;
  made.step = step;
  made.done = done;
  return made;
}

Event send_of(int peer, std::int64_t tag, int step) {
  return message("send", peer, tag, step, true);
}
Event recv_of(int peer, std::int64_t tag, int step) {
  return message("recv", peer, tag, step, true);
}
Event pending(Event event) {
  event.done = false;
  return event;
}

Event collective(const std::string& name, int step) {
  Event made;
  made.event = name;
  made.group = "default";
  made.step = step;
  return made;
}

/// A rank that has answered some steps; a step in flight follows them.
RankRecord rank_at(std::size_t answered,
                   std::optional<int> in_flight,
                   const Transcript& transcript) {
  RankRecord rank = rank_that_answered(std::vector<Answer>(answered, Answer(Returned(NoValue{}))));
  rank.in_flight = in_flight;
  rank.transcript = transcript;
  return rank;
}

RankRecord waiting(int step, const Transcript& transcript) {
  return rank_at(static_cast<std::size_t>(step), step, transcript);
}

RankRecord finished(std::size_t steps, const Transcript& transcript) {
  return rank_at(steps, std::nullopt, transcript);
}

std::string sentence(const Case& c, const std::vector<RankRecord>& ranks) {
  Record record;
  record.is_hung = true;
  record.ranks = ranks;
  return explain_hang(c, record).sentence;
}

TEST(ExplainHang, ATagThatIsNeverSent) {
  const RankRecord sender = finished(3, {recv_of(1, 3, 1), send_of(1, 5, 2), send_of(1, 6, 2)});
  const RankRecord receiver =
      waiting(2, {recv_of(0, 5, 2), recv_of(0, 6, 2), pending(recv_of(0, 7, 2))});
  EXPECT_EQ(sentence(two_ranks(), {sender, receiver}),
            "rank 1 waits for tag 7 from rank 0, which finished after tag 6");
}

TEST(ExplainHang, ARankThatSentNothing) {
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {}), waiting(2, {pending(recv_of(0, 7, 2))})}),
            "rank 1 waits for tag 7 from rank 0, which finished without a send");
}

TEST(ExplainHang, ARankThatReportsNothingJustFinished) {
  RankRecord silent = finished(3, {});
  silent.transcript.reset();
  EXPECT_EQ(sentence(two_ranks(), {silent, waiting(2, {pending(recv_of(0, 7, 2))})}),
            "rank 1 waits for tag 7 from rank 0, which finished");
}

TEST(ExplainHang, AnotherTagIsSent) {
  Record record;
  record.ranks = {waiting(2, {pending(send_of(1, 8, 2))}), waiting(2, {pending(recv_of(0, 7, 2))})};
  const Hang hang = explain_hang(two_ranks(), record);
  EXPECT_EQ(hang.sentence, "rank 0 sends tag 8 to rank 1, which waits for tag 7 from rank 0");
  ASSERT_EQ(hang.ranks.size(), 2U);
  EXPECT_EQ(hang.ranks[1].sentence, "rank 1 waits for tag 7 from rank 0, which sends tag 8");
}

TEST(ExplainHang, TwoThatReceiveWaitForEachOther) {
  EXPECT_EQ(
      sentence(two_ranks(),
               {waiting(1, {pending(recv_of(1, 3, 1))}), waiting(2, {pending(recv_of(0, 7, 2))})}),
      "ranks 0 and 1 wait for each other: rank 0 for tag 3 from rank 1, rank 1 for tag 7 from "
      "rank 0");
}

TEST(ExplainHang, AMessageThatNobodyReceives) {
  const Transcript sent{recv_of(1, 3, 1), pending(send_of(1, 5, 2))};
  EXPECT_EQ(sentence(two_ranks(), {waiting(2, sent), finished(3, {recv_of(0, 4, 2)})}),
            "rank 0 sends tag 5 to rank 1, which never receives it (it finished after tag 4)");
}

TEST(ExplainHang, ARankThatRaised) {
  RankRecord raising = finished(3, {});
  raising.answers[1] = Raised{"value", "ValueError", "no"};
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {pending(recv_of(1, 3, 1))}), raising}),
            "rank 0 waits for tag 3 from rank 1, which raised ValueError in send");
}

TEST(ExplainHang, ARaiseBeforeLaterCallsExplainsNothing) {
  RankRecord raising = finished(3, {recv_of(0, 7, 2)});
  raising.answers[1] = Raised{"value", "ValueError", "no"};
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {pending(recv_of(1, 3, 1))}), raising}),
            "rank 0 waits for tag 3 from rank 1, which finished without a send");
}

TEST(ExplainHang, ARankThatIsNotToldToGoOn) {
  Case c = two_ranks();
  c.programs[1][1].after = {{0, 1}};
  EXPECT_EQ(sentence(c, {waiting(1, {pending(recv_of(1, 3, 1))}), finished(1, {})}),
            "rank 0 waits for tag 3 from rank 1, which is not to send before the answer of rank 0 "
            "step 2 (recv)");
}

TEST(ExplainHang, WithoutTranscriptsTheStepIsAllThatIsKnown) {
  RankRecord silent = waiting(2, {});
  silent.transcript.reset();
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {}), silent}),
            "rank 1 is in recv(init_tag=7, src=0); rank 1 reported no pending call");
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {pending(recv_of(1, 3, 1))}), silent}),
            "rank 0 waits for tag 3 from rank 1, which is in recv(init_tag=7, src=0)");
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {}), silent}),
            "rank 0 is in recv(init_tag=3, src=1), rank 1 is in recv(init_tag=7, src=0); rank 0 "
            "reported no pending call");
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {}), waiting(2, {pending(recv_of(0, 7, 2))})}),
            "rank 0 is in recv(init_tag=3, src=1), rank 1 waits for tag 7 from rank 0; rank 0 "
            "reported no pending call");
}

TEST(ExplainHang, ARankThatDoesNotEvenSayWhereItIs) {
  RankRecord stopped = waiting(2, {});
  stopped.transcript.reset();
  stopped.is_silent = true;
  EXPECT_EQ(sentence(two_ranks(), {waiting(1, {pending(recv_of(1, 3, 1))}), stopped}),
            "rank 0 waits for tag 3 from rank 1, which is in recv(init_tag=7, src=0) and answers "
            "nothing, as a stopped process does");
}

TEST(ExplainHang, WhatAnEarlierStepLeftOpenExplainsOnlyAWait) {
  const Transcript open{pending(recv_of(0, 7, 1))};
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {}), waiting(2, open)}),
            "rank 1 is in recv(init_tag=7, src=0); rank 1 reported no pending call");
  Case c = two_ranks();
  c.programs[1][2].op = "wait";
  EXPECT_EQ(sentence(c, {finished(3, {}), waiting(2, open)}),
            "rank 1 waits for tag 7 from rank 0, which finished without a send");
}

TEST(ExplainHang, OfSeveralReceivesTheOneThatWasNotSentCounts) {
  const Transcript open{pending(recv_of(0, 5, 2)), pending(recv_of(0, 6, 2))};
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {send_of(1, 5, 2)}), waiting(2, open)}),
            "rank 1 waits for tag 6 from rank 0, which finished after tag 5");
}

TEST(ExplainHang, TheSecondMessageUnderATagBelongsToTheSecondReceive) {
  const Transcript open{recv_of(0, 5, 2), pending(recv_of(0, 5, 2))};
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {send_of(1, 5, 2)}), waiting(2, open)}),
            "rank 1 waits for tag 5 from rank 0, which finished after tag 5");
  EXPECT_EQ(
      sentence(two_ranks(), {finished(3, {send_of(1, 5, 2), send_of(1, 5, 2)}), waiting(2, open)}),
      "rank 1 waits for tag 5 from rank 0, which sent it and finished");
}

TEST(ExplainHang, ACollectiveCallThatSomebodyNeverBegins) {
  const Transcript begun{pending(collective("all_gather", 1))};
  EXPECT_EQ(sentence(three_ranks(), {waiting(1, begun), waiting(1, begun), finished(2, {})}),
            "rank 0 waits in all_gather for rank 2, which finished");
  EXPECT_EQ(sentence(three_ranks(), {waiting(1, begun), finished(2, {}), finished(2, {})}),
            "rank 0 waits in all_gather for ranks 1 and 2, of which rank 1 finished");
}

TEST(ExplainHang, AnotherCollectiveCallInItsPlace) {
  const Transcript all{pending(collective("all_gather", 1))};
  const Transcript one{pending(collective("gather", 1))};
  EXPECT_EQ(sentence(three_ranks(), {waiting(1, all), waiting(1, one), waiting(1, all)}),
            "ranks 0 and 1 wait for each other: rank 0 in all_gather for rank 1, rank 1 in gather "
            "for ranks 0 and 2");
}

TEST(ExplainHang, ACollectiveCallThatEverybodyHasBegun) {
  const Transcript begun{pending(collective("all_gather", 1))};
  EXPECT_EQ(sentence(three_ranks(), {waiting(1, begun), waiting(1, begun), waiting(1, begun)}),
            "rank 0 waits in all_gather, which every member has begun");
}

TEST(ExplainHang, ACircleOfThree) {
  const auto receives_from = [](int peer) { return waiting(1, {pending(recv_of(peer, 0, 1))}); };
  EXPECT_EQ(
      sentence(three_ranks(), {receives_from(1), receives_from(2), receives_from(0)}),
      "ranks 0, 1 and 2 wait in a circle: rank 0 for tag 0 from rank 1, rank 1 for tag 0 from "
      "rank 2, rank 2 for tag 0 from rank 0");
}

TEST(ExplainHang, AChainEndsWithItsCause) {
  EXPECT_EQ(sentence(three_ranks(),
                     {waiting(1, {pending(recv_of(1, 0, 1))}),
                      waiting(1, {pending(recv_of(2, 4, 1))}),
                      finished(2, {send_of(1, 3, 1)})}),
            "rank 0 waits for tag 0 from rank 1, which waits for tag 4 from rank 2, which finished "
            "after tag 3");
}

TEST(ExplainHang, OtherGroupsAreNamed) {
  Event wanted = pending(recv_of(0, 7, 2));
  wanted.group = "pair";
  EXPECT_EQ(sentence(two_ranks(), {finished(3, {send_of(1, 7, 2)}), waiting(2, {wanted})}),
            "rank 1 waits for tag 7 from rank 0 in group `pair`, which finished without a send");
}

TEST(ExplainHang, ListsEveryRankThatWaitsWithItsPendingCalls) {
  Record record;
  record.ranks = {finished(3, {}), waiting(2, {recv_of(0, 5, 2), pending(recv_of(0, 7, 2))})};
  const Hang hang = explain_hang(two_ranks(), record);
  ASSERT_EQ(hang.ranks.size(), 1U);
  EXPECT_EQ(hang.ranks[0].rank, 1);
  EXPECT_EQ(hang.ranks[0].step, 2);
  EXPECT_EQ(hang.ranks[0].op, "recv");
  EXPECT_THAT(hang.ranks[0].pending, ElementsAre(Field(&Event::tag, 7)));
}

}  // namespace
}  // namespace tdconf
