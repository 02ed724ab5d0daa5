// SPDX-License-Identifier: BSD-3-Clause
#include "engine/session.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "engine/tests/support.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// Both ranks send; rank 0 goes on to a step that waits for rank 1.
Case two_senders() {
  return parse_one(R"(
id: t/x
clauses: [c]
level: must
says: s
world: 2
deadline_s: 1
slow: a short deadline keeps the tests of hangs short
values: {v: {batch_size: [], entries: []}}
ranks:
  0:
    - make: v
    - send: {td: v, dst: 1}
    - snapshot: v
      after: 1.sent
  1:
    - make: v
    - send: {td: v, dst: 0}
      label: sent
)");
}

/// The sending of rank 1 must block until rank 0 takes its snapshot.
Case a_step_that_blocks() {
  Case c = two_senders();
  c.programs[0][2].after.clear();
  c.programs[1][1].expect.blocks = StepId{0, 2};
  return c;
}

class SessionTest : public ::testing::Test {
 protected:
  Session& session_with(const std::string& behaviour, bool is_fork_server = false) {
    SessionOptions options;
    options.implementation = "scripted";
    options.fleet.commands["scripted"] = {{TDCONF_TEST_PYTHON, TDCONF_SCRIPTED_ADAPTER, behaviour},
                                          is_fork_server};
    options.fleet.log_folder = fresh_folder("logs");
    options.store_folder = fresh_folder("stores");
    options.repeat_command = "runner";
    options.expectations = expectations_;
    options.trace = trace_;
    session_ = std::make_unique<Session>(options);
    return *session_;
  }

  CaseResult run_with(const std::string& behaviour) {
    return session_with(behaviour).run(two_senders());
  }

  std::vector<Expectation> expectations_;
  bool trace_ = false;

 private:
  static std::string fresh_folder(const std::string& name) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const auto path = std::filesystem::path(::testing::TempDir()) / "session" / test->name() / name;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path.string();
  }

  std::unique_ptr<Session> session_;
};

void expect_result(const CaseResult& result, Verdict verdict, const std::string& signature) {
  EXPECT_EQ(to_string(result.judgement.verdict), to_string(verdict));
  EXPECT_THAT(result.judgement.signature, StartsWith(signature));
}

TEST_F(SessionTest, AnHonestCasePasses) {
  const CaseResult result = run_with("honest");
  expect_result(result, Verdict::kPass, "");
  EXPECT_EQ(result.outcome, Outcome::kAsExpected);
  EXPECT_EQ(result.record.ranks[0].answers.size(), 3U);
  EXPECT_EQ(result.record.ranks[0].ended->values, 1);
  EXPECT_EQ(result.repeat, "runner --run 't/x'");
}

TEST_F(SessionTest, AdaptersStayUpAfterAPass) {
  Session& session = session_with("honest");
  const auto first = session.run(two_senders()).record.ranks[0].pid;
  EXPECT_EQ(session.run(two_senders()).record.ranks[0].pid, first);
  EXPECT_TRUE(session.fleet().dismiss().empty());
}

TEST_F(SessionTest, AdaptersAreReplacedAfterAnythingElse) {
  Session& session = session_with("raises");
  const CaseResult first = session.run(two_senders());
  const CaseResult second = session.run(two_senders());
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_NE(first.record.ranks[rank].pid, second.record.ranks[rank].pid);
    EXPECT_EQ(first.record.ranks[rank].exit->signal, SIGKILL);
  }
}

TEST_F(SessionTest, StepsAreNumberedInTheOrderOfReleasesAndAnswers) {
  const CaseResult result = run_with("honest");
  const RankRecord& first = result.record.ranks[0];
  const RankRecord& second = result.record.ranks[1];
  std::vector<int> places;
  for (const RankRecord* rank : {&first, &second}) {
    places.insert(places.end(), rank->released.begin(), rank->released.end());
    places.insert(places.end(), rank->answered.begin(), rank->answered.end());
  }
  EXPECT_THAT(places, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_GT(first.released[2], second.answered[1]);
}

TEST_F(SessionTest, AStepIsReleasedOnceAnotherIsSeenToBlock) {
  const CaseResult result = session_with("meets").run(a_step_that_blocks());
  expect_result(result, Verdict::kPass, "");
  // The step returns the number of pings that were answered meanwhile.
  const Returned& returned = std::get<Returned>(result.record.ranks[1].answers[1]);
  EXPECT_GE(std::get<IntegerValue>(returned).value, 10);
  EXPECT_LT(result.record.ranks[0].released[2], result.record.ranks[1].answered[1]);
}

TEST_F(SessionTest, AStepThatDoesNotBlockIsAnsweredBeforeTheOther) {
  const CaseResult result = session_with("honest").run(a_step_that_blocks());
  EXPECT_GT(result.record.ranks[0].released[2], result.record.ranks[1].answered[1]);
}

TEST_F(SessionTest, AStepThatIsNotSeenInProgressDoesNotBlock) {
  const CaseResult result = session_with("meets_unseen").run(a_step_that_blocks());
  expect_result(result, Verdict::kHang, "rank 1 step 2 (send): no answer within 1000 ms");
  EXPECT_EQ(result.record.ranks[0].released.size(), 2U);
}

TEST_F(SessionTest, WhatARankDidIsKnownWhenItsCaseIsOver) {
  const CaseResult result = run_with("reports");
  expect_result(result, Verdict::kPass, "");
  ASSERT_EQ(result.record.ranks[0].transcript->size(), 1U);
  EXPECT_EQ(result.record.ranks[0].transcript->at(0).peer, 1);
  EXPECT_EQ(result.record.ranks[0].transcript->at(0).step, 1);
}

TEST_F(SessionTest, AHangIsExplainedByWhatTheRanksDid) {
  const CaseResult result = run_with("reports_a_wait");
  expect_result(result,
                Verdict::kHang,
                "rank 1 step 2 (send): no answer within 1000 ms: rank 1 sends tag 3 to rank 0, "
                "which is not to snapshot before the answer of rank 1 step 2 (send)");
  EXPECT_EQ(result.judgement.hang->ranks[0].pending.size(), 1U);
  EXPECT_EQ(result.record.ranks[0].transcript->size(), 1U);
}

TEST_F(SessionTest, TranscriptsThatBreakThePromiseOfHelloAreErrors) {
  expect_result(run_with("reports_nothing"), Verdict::kError, "rank 0: gives no transcript");
  expect_result(run_with("reports_unasked"), Verdict::kError, "rank 0: gives a transcript");
  expect_result(
      run_with("reports_nonsense"), Verdict::kError, "rank 0: its transcript names rank 7 of 2");
}

TEST_F(SessionTest, ATraceHoldsAllThatWasSaid) {
  trace_ = true;
  const nlohmann::json line = to_json(run_with("reports"));
  const nlohmann::json& rank = line["ranks"][1];
  ASSERT_EQ(rank["answers"].size(), 2U);
  EXPECT_EQ(rank["answers"][1]["value"], nlohmann::json({{"kind", "none"}}));
  EXPECT_EQ(rank["transcript"][0]["step"], 2);
  EXPECT_EQ(rank["released"].size(), 2U);
  EXPECT_EQ(rank["answered"].size(), 2U);
  trace_ = false;
  EXPECT_FALSE(to_json(run_with("reports"))["ranks"][1].contains("answers"));
}

TEST_F(SessionTest, TheTraceOfAHangNamesItsSteps) {
  trace_ = true;
  const nlohmann::json line = to_json(run_with("reports_a_wait"));
  EXPECT_EQ(line["hang"]["ranks"][0]["rank"], 1);
  EXPECT_EQ(line["hang"]["ranks"][0]["step"], 2);
  EXPECT_EQ(line["hang"]["ranks"][0]["op"], "send");
  EXPECT_EQ(line["hang"]["ranks"][0]["pending"][0]["tag"], 3);
  EXPECT_EQ(line["hang"]["ranks"][0]["pending"][0]["step"], 2);
  EXPECT_EQ(line["hang"]["sentence"],
            "rank 1 sends tag 3 to rank 0, which is not to snapshot before the answer of rank 1 "
            "step 2 (send)");
}

TEST_F(SessionTest, ARaiseEndsTheCaseWithoutWaitingForTheDeadline) {
  const CaseResult result = run_with("raises");
  expect_result(result, Verdict::kFail, "rank 1 step 2 (send): raised value (E: m)");
  EXPECT_FALSE(result.record.is_hung);
  // Rank 1 has answered, although with an exception, so that rank 0 may finish.
  EXPECT_EQ(result.record.ranks[0].answers.size(), 3U);
}

TEST_F(SessionTest, DeathBySignalIsACrash) {
  const CaseResult result = run_with("kills_itself");
  expect_result(result, Verdict::kCrash, "rank 1 step 2 (send): killed by SIGKILL");
  EXPECT_EQ(result.record.ranks[1].exit->signal, SIGKILL);
  EXPECT_EQ(result.record.ranks[1].in_flight, 1);
}

TEST_F(SessionTest, LeavingInTheMiddleIsACrashWhateverTheStatus) {
  expect_result(run_with("exits"), Verdict::kCrash, "rank 1 step 2 (send): exited with status 3");
  expect_result(
      run_with("exits_with_0"), Verdict::kCrash, "rank 1 step 2 (send): exited with status 0");
}

TEST_F(SessionTest, AnUnansweredStepIsAHangWithStacks) {
  const CaseResult result = run_with("sleeps");
  expect_result(result, Verdict::kHang, "rank 1 step 2 (send): no answer within 1000 ms");
  EXPECT_THAT(*result.record.ranks[1].stacks, StartsWith("rank 1 stands here"));
  EXPECT_EQ(result.record.ranks[1].exit->signal, SIGKILL);
}

TEST_F(SessionTest, AStoppedAdapterIsAHangToo) {
  const CaseResult result = run_with("stops");
  expect_result(result, Verdict::kHang, "rank 1 step 2 (send): no answer within 1000 ms");
  EXPECT_THAT(result.record.ranks[1].stacks.value_or(""), Not(HasSubstr("rank 1 stands here")));
  EXPECT_EQ(result.record.ranks[1].exit->signal, SIGKILL);
}

TEST_F(SessionTest, BreakingTheProtocolIsAnError) {
  expect_result(
      run_with("wrong_seq"), Verdict::kError, "rank 1 step 2 (send): an answer has the `seq` 999");
  expect_result(run_with("answers_twice"), Verdict::kError, "rank 1: an answer has the `seq`");
  expect_result(run_with("writes_garbage"),
                Verdict::kError,
                "rank 1 step 2 (send): a line is not JSON: \"this is");
  expect_result(run_with("closes"),
                Verdict::kError,
                "rank 1 step 2 (send): closed its connection and runs on");
  expect_result(run_with("gives_up"), Verdict::kError, "rank 1 step 2 (send): error: cannot");
}

TEST_F(SessionTest, RefusingWhatIsClaimedIsAFailure) {
  expect_result(run_with("lies"),
                Verdict::kFail,
                "rank 1 step 2 (send): unsupported op:send, although it claims that");
}

TEST_F(SessionTest, WhatIsNotClaimedIsUnsupportedAndNotPlayed) {
  const CaseResult result = run_with("lacks_send");
  expect_result(result, Verdict::kUnsupported, "rank 0: does not claim op:send");
  EXPECT_EQ(result.outcome, Outcome::kNoVerdict);
  EXPECT_TRUE(result.record.ranks.empty());
}

TEST_F(SessionTest, AnAdapterThatDoesNotStartIsAnErrorWithItsLastWords) {
  const CaseResult result = run_with("does_not_start");
  expect_result(result, Verdict::kError, "adapter `scripted` rank ");
  EXPECT_THAT(result.judgement.signature, HasSubstr("exited with status 1"));
  EXPECT_THAT(result.log_tails, ElementsAre(HasSubstr("no such library")));
}

TEST_F(SessionTest, AnAdapterThatKnowsEveryOperationIsAnError) {
  const CaseResult result = run_with("knows_everything");
  expect_result(result, Verdict::kError, "adapter `scripted` rank ");
  EXPECT_THAT(result.judgement.signature, HasSubstr("`no_such_operation` must be unsupported"));
}

TEST_F(SessionTest, AnotherTokenIsNotLetIn) {
  Session& session = session_with("wrong_token");
  const CaseResult result = session.run(two_senders());
  expect_result(result, Verdict::kError, "adapter `scripted` rank ");
}

TEST_F(SessionTest, ADeathAfterTheLastStepIsACrash) {
  expect_result(run_with("dies_after_the_case"), Verdict::kCrash, "rank 1: killed by SIGKILL");
}

TEST_F(SessionTest, AListedHangCountsAsExpected) {
  Expectation& listed = expectations_.emplace_back();
  listed.match = "t/*";
  listed.status = Verdict::kHang;
  listed.signature = "rank 1 step 2 (send)";
  const CaseResult result = run_with("sleeps");
  EXPECT_EQ(result.outcome, Outcome::kAsExpected);
  EXPECT_NE(result.listed, nullptr);
}

TEST_F(SessionTest, AForkServerPlaysCasesAndReportsHowItsChildrenEnd) {
  Session& session = session_with("honest", true);
  const CaseResult first = session.run(two_senders());
  expect_result(first, Verdict::kPass, "");
  expect_result(session.run(two_senders()), Verdict::kPass, "");
  EXPECT_TRUE(session.fleet().dismiss().empty());
}

TEST_F(SessionTest, ADeadChildOfAForkServerIsACrash) {
  Session& session = session_with("kills_itself", true);
  const CaseResult first = session.run(two_senders());
  expect_result(first, Verdict::kCrash, "rank 1 step 2 (send): killed by SIGKILL");
  expect_result(
      session.run(two_senders()), Verdict::kCrash, "rank 1 step 2 (send): killed by SIGKILL");
}

TEST_F(SessionTest, AForkServerThatDiesTakesItsChildrenAlong) {
  const CaseResult result = session_with("kills_its_server", true).run(two_senders());
  EXPECT_EQ(to_string(result.judgement.verdict), "error");
  EXPECT_THAT(result.judgement.signature,
              HasSubstr("died with its fork server: killed by SIGKILL"));
}

TEST_F(SessionTest, AStoppedChildOfAForkServerIsAHang) {
  Session& session = session_with("stops", true);
  expect_result(
      session.run(two_senders()), Verdict::kHang, "rank 1 step 2 (send): no answer within");
  expect_result(
      session.run(two_senders()), Verdict::kHang, "rank 1 step 2 (send): no answer within");
}

TEST(Players, RolesWinOverAssignments) {
  Case c = two_senders();
  c.roles[1] = "probe";
  const auto players = players_of(c, "x", {{0, "y"}, {1, "y"}});
  EXPECT_EQ(players[0].name, "y");
  EXPECT_EQ(players[1].name, "probe");
}

}  // namespace
}  // namespace tdconf
