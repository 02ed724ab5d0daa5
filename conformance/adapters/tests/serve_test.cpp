// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/channel.h"

namespace tdconf::adapter {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Plays the judge against an adapter in a process of its own, whose operation `block` returns when
/// told to.
class ServeTest : public testing::Test {
 protected:
  ServeTest() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener, generic, length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, generic, &length), 0);
    EXPECT_EQ(pipe(entered_.data()), 0);
    EXPECT_EQ(pipe(release_.data()), 0);
    adapter_ = fork();
    if (adapter_ == 0) play("127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    channel_ = std::make_unique<Channel>(accept(listener, nullptr, nullptr));
    close(listener);
  }

  ~ServeTest() override {
    for (const int end : {entered_[0], entered_[1], release_[0], release_[1]}) close(end);
  }

  [[noreturn]] void play(std::string address) {
    setenv("TDCONF_TOKEN", "secret", 1);
    const auto transcript = std::make_shared<Transcript>();
    const auto block = [&](const Fields&, const auto&) {
      const auto call = transcript->add({{"event", "recv"}, {"done", false}});
      put_byte(entered_[1]);
      take_byte(release_[0]);
      transcript->complete(call, std::nullopt);
      return returns::none();
    };
    const Player player{.name = "miniature",
                        .version = "1.2",
                        .features = {"kind:tensordict"},
                        .operations = {{"block", {{}, block}}},
                        .join = [](const Join&) {},
                        .leftovers = [] { return Leftovers{.values = 2, .works = 1}; },
                        .reset = [] {},
                        .transcript = transcript};
    std::array arguments{std::string("adapter"),
                         std::string("--connect"),
                         std::move(address),
                         std::string("--rank"),
                         std::string("3")};
    std::array<char*, arguments.size() + 1> argv{};
    std::transform(arguments.begin(), arguments.end(), argv.begin(), [](std::string& argument) {
      return argument.data();
    });
    run_adapter(player, static_cast<int>(arguments.size()), argv.data());
  }

  json ask(const json& request) {
    channel_->write(request);
    return channel_->read().value_or("hung up");
  }

  void wait_until_blocked() { take_byte(entered_[0]); }
  void release_block() { put_byte(release_[1]); }

  static void put_byte(int pipe_end) { EXPECT_EQ(write(pipe_end, "x", 1), 1); }
  static void take_byte(int pipe_end) {
    char byte = 0;
    EXPECT_EQ(read(pipe_end, &byte, 1), 1);
  }

  int exit_status() {
    int status = -1;
    EXPECT_EQ(waitpid(adapter_, &status, 0), adapter_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::array<int, 2> entered_{};
  std::array<int, 2> release_{};
  pid_t adapter_ = -1;
  std::unique_ptr<Channel> channel_;
};

TEST_F(ServeTest, SaysHelloAndBye) {
  const json hello = ask({{"seq", 1}, {"type", "hello"}, {"protocol", 1}});
  EXPECT_EQ(hello["seq"], 1);
  EXPECT_EQ(hello["type"], "hello");
  EXPECT_EQ(hello["protocol"], 1);
  EXPECT_EQ(hello["token"], "secret");
  EXPECT_EQ(hello["name"], "miniature");
  EXPECT_EQ(hello["version"], "1.2");
  EXPECT_EQ(hello["language"], "C++");
  EXPECT_EQ(hello["pid"], adapter_);
  EXPECT_THAT(hello["capabilities"],
              UnorderedElementsAre("kind:tensordict", "op:block", "transcript"));
  EXPECT_EQ(ask({{"seq", 2}, {"type", "bye"}}), json({{"seq", 2}, {"type", "done"}}));
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(ServeTest, AnswersPingAndStacksWhileAnOperationBlocks) {
  channel_->write({{"seq", 5}, {"type", "step"}, {"op", "block"}, {"args", json::object()}});
  wait_until_blocked();
  EXPECT_EQ(ask({{"seq", 6}, {"type", "ping"}}), json({{"seq", 6}, {"type", "pong"}, {"step", 5}}));
  const json stacks = ask({{"seq", 7}, {"type", "stacks"}});
  EXPECT_THAT(stacks["text"].get<std::string>(), HasSubstr("step 5 in progress: block"));
  EXPECT_THAT(stacks["text"].get<std::string>(), HasSubstr("run_adapter"));
  release_block();
  const json none{{"kind", "none"}};
  EXPECT_EQ(channel_->read(), json({{"seq", 5}, {"type", "returned"}, {"value", none}}));
  EXPECT_EQ(ask({{"seq", 8}, {"type", "ping"}})["step"], nullptr);
}

TEST_F(ServeTest, GivesTheTranscriptWhileAnOperationBlocksAndAtTheEnd) {
  channel_->write({{"seq", 5}, {"type", "step"}, {"op", "block"}, {"args", json::object()}});
  wait_until_blocked();
  json call{{"event", "recv"}, {"done", false}, {"step", 5}};
  EXPECT_EQ(ask({{"seq", 6}, {"type", "stacks"}})["transcript"], json::array({call}));
  release_block();
  EXPECT_EQ(channel_->read().value()["seq"], 5);
  call["done"] = true;
  EXPECT_EQ(ask({{"seq", 7}, {"type", "end_case"}})["transcript"], json::array({call}));
}

TEST_F(ServeTest, ExitsWithStatus0WhenTheJudgeHangsUpDuringAnOperation) {
  channel_->write({{"seq", 5}, {"type", "step"}, {"op", "block"}, {"args", json::object()}});
  wait_until_blocked();
  channel_.reset();
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(ServeTest, AnswersABadRequestByErrorAndGoesOn) {
  const json refused = ask({{"seq", 1}, {"type", "ping"}, {"surprise", 1}});
  EXPECT_EQ(refused["seq"], 1);
  EXPECT_EQ(refused["type"], "error");
  EXPECT_EQ(ask({{"seq", 2}, {"type", "reset"}}), json({{"seq", 2}, {"type", "done"}}));
  EXPECT_EQ(ask({{"seq", 3}, {"type", "end_case"}})["leftovers"],
            json({{"values", 2}, {"works", 1}}));
}

TEST_F(ServeTest, JoinsOnlyAsTheRankThatItPlays) {
  json join{{"seq", 1},
            {"type", "join"},
            {"rank", 3},
            {"world_size", 4},
            {"store", {{"kind", "file"}, {"path", "/x"}}},
            {"groups", json::array()},
            {"timeout_ms", 1000}};
  EXPECT_EQ(ask(join), json({{"seq", 1}, {"type", "joined"}}));
  join["rank"] = 2;
  EXPECT_EQ(ask(join),
            json({{"seq", 1},
                  {"type", "error"},
                  {"message", "join.rank: this process plays rank 3, got 2"}}));
}

TEST_F(ServeTest, GivesUpWhenAMessageNestsTooDeep) {
  json deep{{"seq", 1}, {"type", "step"}, {"op", "block"}, {"args", json::object()}};
  for (int level = 0; level < 64; ++level) deep["args"] = json{{"a", deep["args"]}};
  channel_->write(deep);
  EXPECT_EQ(channel_->read(), std::nullopt);
  EXPECT_EQ(exit_status(), 69);
}

TEST_F(ServeTest, GivesUpWhenAMessageHasNoSeq) {
  channel_->write({{"type", "ping"}});
  EXPECT_EQ(channel_->read(), std::nullopt);
  EXPECT_EQ(exit_status(), 69);
}

}  // namespace
}  // namespace tdconf::adapter
