// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/message.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "engine/input/json_reader.h"
#include "engine/play/peer.h"
#include "engine/play/ping_series.h"
#include "engine/tests/support.h"

namespace tdconf {
namespace {

using namespace testing_support;
using nlohmann::json;
using ::testing::HasSubstr;

std::string violation_of(const json& message, const std::string& request = "step") {
  try {
    decode_answer(message, request);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "none";
}

TEST(DecodeAnswer, RefusesWhatTheProtocolDoesNotKnow) {
  EXPECT_THAT(
      violation_of({{"seq", 1}, {"type", "returned"}, {"value", {{"kind", "none"}}}, {"ms", 3}}),
      HasSubstr("an unknown field `ms`"));
  EXPECT_THAT(violation_of({{"seq", 1}, {"type", "joined"}}),
              HasSubstr("`step` is answered by `joined`"));
  EXPECT_THAT(violation_of({{"seq", 1}, {"type", "returned"}}), HasSubstr("no field `value`"));
  EXPECT_THAT(violation_of({{"seq", 1}, {"type", "returned"}, {"value", {{"kind", "list"}}}}),
              HasSubstr("unknown kind `list`"));
  EXPECT_THAT(
      violation_of({{"seq", 1}, {"type", "returned"}, {"value", {{"kind", "int"}, {"int", "5"}}}}),
      HasSubstr("is not an integer"));
  EXPECT_THAT(violation_of({{"seq", 1},
                            {"type", "raised"},
                            {"category", "oops"},
                            {"exception", "E"},
                            {"message", ""}}),
              HasSubstr("unknown category `oops`"));
  EXPECT_THAT(violation_of({{"seq", 1}, {"type", "hello"}, {"protocol", 2}}, "hello"),
              HasSubstr("protocol 2, not 1"));
}

TEST(DecodeAnswer, SeveralValuesHaveNames) {
  const Answer answer = returned({{"kind", "values"}, {"names", {"all.0", "all.1"}}});
  EXPECT_EQ(describe(answer), "returned the values `all.0`, `all.1`");
  EXPECT_EQ(describe(returned({{"kind", "values"}, {"names", json::array()}})),
            "returned no values");
  EXPECT_THROW(returned({{"kind", "values"}, {"names", {1}}}), ProtocolError);
  EXPECT_THROW(returned({{"kind", "values"}}), ProtocolError);
}

TEST(DecodeAnswer, SnapshotsMustFitTheirShapes) {
  const json tree = seen_dict({{"a", seen_tensor("int16", {2}, "0000")}});
  EXPECT_THROW(returned_snapshot(tree), ProtocolError);
  const json unknown = seen_dict({{"a", seen_tensor("int17", {1}, "0000")}});
  EXPECT_THROW(returned_snapshot(unknown), ProtocolError);
}

TEST(DecodeAnswer, SnapshotsAreReadStrictly) {
  json tree = seen_dict({});
  tree["color"] = "red";
  EXPECT_THROW(returned_snapshot(tree), ProtocolError);
  json both = seen_tensor("int8", {0}, "");
  both["sha256"] = "00";
  EXPECT_THROW(returned_snapshot(seen_dict({{"a", both}})), ProtocolError);
}

json send_event() {
  return {{"event", "send"},
          {"group", "default"},
          {"peer", 1},
          {"tag", 5},
          {"dtype", "float32"},
          {"shape", {2, 3}},
          {"bytes", 24},
          {"sha256", std::string(64, '0')},
          {"done", true},
          {"step", 7}};
}

json gather_event() {
  json event = send_event();
  event["event"] = "gather";
  event["peer"] = nullptr;
  event.erase("tag");
  return event;
}

json stacks_with(const json& event) {
  return {{"seq", 1}, {"type", "stacks"}, {"text", ""}, {"transcript", {event}}};
}

Event event_of(const json& event) {
  const Answer answer = decode_answer(stacks_with(event), "stacks");
  return std::get<Stacks>(answer).transcript->at(0);
}

TEST(DecodeTranscript, ReadsEachKindOfEvent) {
  const Event send = event_of(send_event());
  EXPECT_EQ(send.peer, 1);
  EXPECT_EQ(send.tag, 5);
  EXPECT_EQ(send.bytes, 24);
  EXPECT_TRUE(send.done);
  EXPECT_EQ(send.step, 7);
  const Event gather = event_of(gather_event());
  EXPECT_FALSE(gather.peer);
  EXPECT_FALSE(gather.tag);
  EXPECT_TRUE(is_collective(gather));
  const Event pickle = event_of({{"event", "pickle"}, {"bytes", 9}, {"step", nullptr}});
  EXPECT_FALSE(is_call(pickle));
  EXPECT_EQ(pickle.bytes, 9);
}

TEST(DecodeTranscript, WritesWhatItReads) {
  const json pickle{{"event", "pickle"}, {"bytes", 9}, {"step", nullptr}};
  for (const json& event : {send_event(), gather_event(), pickle}) {
    EXPECT_EQ(to_json(event_of(event)), event);
  }
}

TEST(DecodeTranscript, RefusesWhatTheProtocolDoesNotKnow) {
  const auto violation = [](json event, const json& changes) {
    event.update(changes);
    return violation_of(stacks_with(event), "stacks");
  };
  EXPECT_EQ(violation(send_event(), json::object()), "none");
  EXPECT_THAT(violation(send_event(), {{"ms", 3}}), HasSubstr("an unknown field `ms`"));
  EXPECT_THAT(violation(gather_event(), {{"tag", 3}}), HasSubstr("an unknown field `tag`"));
  EXPECT_THAT(violation(send_event(), {{"peer", nullptr}}), HasSubstr("`send` has no `peer`"));
  EXPECT_THAT(violation(send_event(), {{"bytes", 23}}), HasSubstr("23 bytes, but its dtype"));
  constexpr std::int64_t kLarge = std::int64_t{1} << 61;
  EXPECT_THAT(violation(send_event(), {{"shape", {kLarge, 2}}, {"bytes", 0}}),
              HasSubstr("more bytes than 64 bits can count"));
  EXPECT_THAT(violation(send_event(), {{"tag", -1}}), HasSubstr("field `tag` of an event is -1"));
  EXPECT_THAT(violation(send_event(), {{"tag", 2147483648}}), HasSubstr("is 2147483648"));
  EXPECT_THAT(violation(send_event(), {{"dtype", "float"}}), HasSubstr("float"));
  EXPECT_THAT(violation(send_event(), {{"sha256", "00"}}), HasSubstr("`sha256` of an event"));
  EXPECT_THAT(violation(send_event(), {{"event", "recv"}, {"done", false}}),
              HasSubstr("not done has a `sha256`"));
  EXPECT_THAT(violation(send_event(), {{"event", "All Gather"}}), HasSubstr("is called"));
  EXPECT_THAT(violation_of(stacks_with({{"event", "pickle"}, {"bytes", 1}}), "stacks"),
              HasSubstr("no field `step`"));
}

/// A peer and the other end of its connection.
struct Connection {
  Connection() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    peer = std::make_unique<Peer>(FileDescriptor(ends[0]));
    other = FileDescriptor(ends[1]);
  }

  void say(const std::string& text) {
    EXPECT_EQ(write(other.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    peer->receive();
  }

  std::unique_ptr<Peer> peer;
  FileDescriptor other;
};

TEST(Connection, AnswersAreMatchedByTheirSeq) {
  Connection connection;
  const std::int64_t step = connection.peer->send("step");
  const std::int64_t stacks = connection.peer->send("stacks");
  connection.say(json({{"seq", stacks}, {"type", "stacks"}, {"text", "here"}}).dump() + "\n");
  connection.say(json({{"seq", step}, {"type", "returned"}, {"value", {{"kind", "none"}}}}).dump() +
                 "\n");
  EXPECT_EQ(connection.peer->take_reply()->request, "stacks");
  EXPECT_EQ(connection.peer->take_reply()->request, "step");
  EXPECT_FALSE(connection.peer->take_reply());
}

TEST(Connection, AReplyHoldsTheMessageAsItCame) {
  Connection connection;
  const json pong{{"seq", connection.peer->send("ping")}, {"type", "pong"}, {"step", 4}};
  connection.say(pong.dump() + "\n");
  EXPECT_EQ(connection.peer->take_reply()->message, pong);
}

TEST(Connection, ASeqThatIsNotOpenIsAViolation) {
  Connection connection;
  const std::int64_t ping = connection.peer->send("ping");
  const std::string pong = json({{"seq", ping}, {"type", "pong"}, {"step", nullptr}}).dump() + "\n";
  connection.say(pong);
  EXPECT_FALSE(connection.peer->violation());
  connection.say(pong);
  EXPECT_THAT(connection.peer->violation().value_or(""), HasSubstr("no open request"));
}

TEST(Connection, PartsOfALineAreKeptUntilItIsComplete) {
  Connection connection;
  const std::int64_t ping = connection.peer->send("ping");
  const std::string pong = json({{"seq", ping}, {"type", "pong"}, {"step", 1}}).dump();
  connection.say(pong.substr(0, 7));
  EXPECT_FALSE(connection.peer->take_reply());
  connection.say(pong.substr(7) + "\n");
  EXPECT_TRUE(connection.peer->take_reply());
}

TEST(Connection, WhatIsNotJsonIsAViolation) {
  Connection connection;
  connection.say("Traceback (most recent call last):\n");
  EXPECT_THAT(connection.peer->violation().value_or(""),
              HasSubstr("a line is not JSON: \"Traceback"));
}

TEST(Connection, ALineWithoutEndIsAViolation) {
  Connection connection;
  const std::string chunk(1U << 16, 'x');
  for (int i = 0; i < 140; ++i) connection.say(chunk);
  EXPECT_THAT(connection.peer->violation().value_or(""), HasSubstr("longer than 8388608 bytes"));
}

TEST(Connection, TheEndIsSeen) {
  Connection connection;
  connection.other = FileDescriptor();
  connection.peer->receive();
  EXPECT_TRUE(connection.peer->is_closed());
}

/// Answers the pings of a series, each with a step in progress or none.
class PingSeriesTest : public ::testing::Test {
 protected:
  PingSeriesTest() { series_.begin(*connection_.peer, kStep); }

  void pong(std::optional<std::int64_t> step) {
    series_.take(*connection_.peer, ping_++, Pong{step});
  }

  static constexpr std::int64_t kStep = 40;
  Connection connection_;
  PingSeries series_;
  /// The number of the first request of a connection.
  std::int64_t ping_ = 1;
};

TEST_F(PingSeriesTest, TenInARowAreEnough) {
  for (int i = 0; i < 9; ++i) pong(kStep);
  EXPECT_FALSE(series_.is_complete());
  pong(kStep);
  EXPECT_TRUE(series_.is_complete());
}

TEST_F(PingSeriesTest, AnotherStepOrNoneBeginsTheCountAnew) {
  for (int i = 0; i < 9; ++i) pong(kStep);
  pong(std::nullopt);
  for (int i = 0; i < 9; ++i) pong(kStep);
  pong(kStep - 1);
  for (int i = 0; i < 9; ++i) pong(kStep);
  EXPECT_FALSE(series_.is_complete());
  pong(kStep);
  EXPECT_TRUE(series_.is_complete());
}

TEST_F(PingSeriesTest, AnAnswerToAnEarlierSeriesDoesNotCount) {
  series_.begin(*connection_.peer, kStep);
  for (int i = 0; i < 10; ++i) pong(kStep);
  EXPECT_FALSE(series_.is_complete());
  pong(kStep);
  EXPECT_TRUE(series_.is_complete());
}

}  // namespace
}  // namespace tdconf
