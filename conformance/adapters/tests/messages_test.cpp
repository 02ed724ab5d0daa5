// SPDX-License-Identifier: BSD-3-Clause
#include "common/messages.h"

#include <gmock/gmock.h>

#include <limits>

namespace tdconf::adapter {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

const json kJoin = json::parse(R"({"seq": 2, "type": "join", "rank": 1, "world_size": 3,
    "store": {"kind": "file", "path": "/x"}, "timeout_ms": 1500,
    "groups": [{"name": "default", "kind": "default", "ranks": [0, 1, 2], "backend": "gloo"},
               {"name": "g02", "kind": "subgroup", "ranks": [0, 2], "backend": "cpu:gloo"}]})");

TEST(DecodeRequest, ReadsJoin) {
  const Request request = decode_request(kJoin);
  EXPECT_EQ(request.seq, 2);
  const auto& join = std::get<Join>(request.body);
  EXPECT_EQ(join.rank, 1);
  EXPECT_EQ(join.world_size, 3);
  EXPECT_EQ(join.store_path, "/x");
  EXPECT_EQ(join.timeout, std::chrono::milliseconds(1500));
  ASSERT_EQ(join.groups.size(), 2u);
  EXPECT_EQ(join.groups[1].name, "g02");
  EXPECT_EQ(join.groups[1].kind, "subgroup");
  EXPECT_THAT(join.groups[1].ranks, ElementsAre(0, 2));
  EXPECT_EQ(join.groups[1].backend, "cpu:gloo");
}

TEST(DecodeRequest, ReadsAStepWithAndWithoutAName) {
  const auto named = decode_request(json::parse(
      R"({"seq": 7, "type": "step", "op": "irecv", "args": {"td": "x"}, "as": "works"})"));
  EXPECT_EQ(named.seq, 7);
  EXPECT_EQ(std::get<Step>(named.body).op, "irecv");
  EXPECT_EQ(std::get<Step>(named.body).args, json({{"td", "x"}}));
  EXPECT_EQ(std::get<Step>(named.body).as, "works");
  const auto bare =
      decode_request(json::parse(R"({"seq": 8, "type": "step", "op": "send", "args": {}})"));
  EXPECT_EQ(std::get<Step>(bare.body).as, std::nullopt);
}

TEST(DecodeRequest, ReadsTheRequestsWithoutFields) {
  const auto body = [](const char* type) {
    return decode_request({{"seq", 1}, {"type", type}}).body;
  };
  EXPECT_TRUE(std::holds_alternative<Ping>(body("ping")));
  EXPECT_TRUE(std::holds_alternative<Stacks>(body("stacks")));
  EXPECT_TRUE(std::holds_alternative<EndCase>(body("end_case")));
  EXPECT_TRUE(std::holds_alternative<Reset>(body("reset")));
  EXPECT_TRUE(std::holds_alternative<Bye>(body("bye")));
}

TEST(DecodeRequest, RefusesAnUnknownFieldInEveryType) {
  const std::vector<json> requests{
      {{"type", "hello"}, {"protocol", 1}},
      kJoin,
      {{"type", "step"}, {"op", "send"}, {"args", json::object()}},
      {{"type", "ping"}},
      {{"type", "stacks"}},
      {{"type", "end_case"}},
      {{"type", "reset"}},
      {{"type", "bye"}},
  };
  for (json request : requests) {
    request["seq"] = 1;
    EXPECT_NO_THROW(decode_request(request)) << request;
    request["surprise"] = true;
    EXPECT_THROW(decode_request(request), BadRequest) << request;
  }
}

TEST(DecodeRequest, RefusesAnUnknownFieldInAGroupAndInTheStore) {
  for (const char* place : {"/groups/1", "/store"}) {
    json request = kJoin;
    request[json::json_pointer(place)]["surprise"] = true;
    EXPECT_THROW(decode_request(request), BadRequest) << place;
  }
}

TEST(DecodeRequest, RefusesWhatTheProtocolDoesNotName) {
  json request = kJoin;
  request["groups"][1]["kind"] = "clique";
  EXPECT_THROW(decode_request(request), BadRequest);
  request = kJoin;
  request["store"]["kind"] = "tcp";
  EXPECT_THROW(decode_request(request), BadRequest);
  EXPECT_THAT(
      [] {
        decode_request({{"seq", 1}, {"type", "sned"}});
      },
      ThrowsMessage<BadRequest>("request.type: unknown type `sned`"));
}

json join_with(const char* key, std::int64_t number) {
  json request = kJoin;
  request[key] = number;
  return request;
}

TEST(DecodeRequest, ReadsTheLargestWorldAndTheLongestTimeout) {
  json request = join_with("world_size", 1024);
  request["rank"] = 1023;
  request["timeout_ms"] = 86'400'000;
  const Request decoded = decode_request(request);
  const auto& join = std::get<Join>(decoded.body);
  EXPECT_EQ(join.rank, 1023);
  EXPECT_EQ(join.world_size, 1024);
  EXPECT_EQ(join.timeout, std::chrono::hours(24));
}

TEST(DecodeRequest, RefusesAJoinBeyondTheLimits) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const auto refused = [](const char* key, std::int64_t number, const std::string& range) {
    EXPECT_THAT([&] { decode_request(join_with(key, number)); },
                ThrowsMessage<BadRequest>("join." + std::string(key) + ": expected " + range +
                                          ", got " + std::to_string(number)));
  };
  for (const std::int64_t size :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1025}, kLargest}) {
    refused("world_size", size, "1 to 1024");
  }
  for (const std::int64_t rank : {std::int64_t{-1}, std::int64_t{3}, kLargest}) {
    refused("rank", rank, "0 to 2");
  }
  for (const std::int64_t timeout : {std::int64_t{0}, std::int64_t{86'400'001}, kLargest}) {
    refused("timeout_ms", timeout, "1 to 86400000");
  }
}

TEST(DecodeRequest, RefusesAnotherProtocolVersion) {
  EXPECT_THAT(
      [] {
        decode_request({{"seq", 1}, {"type", "hello"}, {"protocol", 2}});
      },
      ThrowsMessage<BadRequest>("hello.protocol: this adapter speaks version 1, got 2"));
}

TEST(DecodeSeq, RefusesAMessageWithoutOne) {
  EXPECT_THROW(decode_seq(json{{"type", "ping"}}), BadRequest);
  EXPECT_THROW(decode_seq(json{{"seq", "1"}}), BadRequest);
  EXPECT_THROW(decode_seq(json::array()), BadRequest);
}

}  // namespace
}  // namespace tdconf::adapter
