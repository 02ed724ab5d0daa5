// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/message.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "engine/input/json_reader.h"
#include "engine/play/peer.h"
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

}  // namespace
}  // namespace tdconf
