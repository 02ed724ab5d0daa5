// SPDX-License-Identifier: BSD-3-Clause
#include "common/channel.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace tdconf::adapter {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    std::array<int, 2> sockets{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    judge_ = sockets[0];
    channel_.emplace(sockets[1]);
  }
  ~ChannelTest() override { hang_up(); }

  void hang_up() {
    if (judge_ >= 0) close(judge_);
    judge_ = -1;
  }

  void judge_writes(std::string_view text) {
    ASSERT_EQ(send(judge_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }

  int judge_ = -1;
  std::optional<Channel> channel_;
};

TEST_F(ChannelTest, SplitsTheStreamAtLineEnds) {
  judge_writes("{\"seq\":1}\n{\"seq\"");
  EXPECT_EQ(channel_->read(), json({{"seq", 1}}));
  judge_writes(":2}\n");
  EXPECT_EQ(channel_->read(), json({{"seq", 2}}));
}

TEST_F(ChannelTest, ReturnsNothingWhenTheConnectionEnds) {
  judge_writes("{\"seq\":1}\n");
  hang_up();
  EXPECT_TRUE(channel_->read().has_value());
  EXPECT_EQ(channel_->read(), std::nullopt);
}

TEST_F(ChannelTest, RefusesALineThatIsNoJson) {
  judge_writes("hello\n");
  EXPECT_THROW(channel_->read(), BadRequest);
}

std::string nested_lists(int levels) {
  const auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']') + '\n';
}

TEST_F(ChannelTest, ReadsALineThatNestsUpToTheLimit) {
  judge_writes(nested_lists(64));
  EXPECT_EQ(channel_->read()->dump() + '\n', nested_lists(64));
  // Neither neighbours nor brackets in a text nest.
  const std::string flat =
      '[' + std::string(65, ' ') + "[],{},[],\"" + std::string(65, '[') + "\"]";
  judge_writes(flat + '\n');
  EXPECT_EQ(channel_->read()->size(), 4u);
}

TEST_F(ChannelTest, RefusesALineThatNestsDeeper) {
  const auto read = [this] { channel_->read(); };
  const auto refused =
      ThrowsMessage<BadRequest>("a line of the control connection nests deeper than 64 levels");
  judge_writes(nested_lists(65));
  EXPECT_THAT(read, refused);
  judge_writes(nested_lists(30'000));
  EXPECT_THAT(read, refused);
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"a\":";
  judge_writes(objects + "1" + std::string(65, '}') + '\n');
  EXPECT_THAT(read, refused);
}

TEST_F(ChannelTest, RefusesALineBeyondTheLimit) {
  // The kernel's buffer is smaller than the line, so both ends have to move.
  std::thread judge([this] {
    const std::string line(kMaxMessageBytes + 2, ' ');
    send(judge_, line.data(), line.size(), MSG_NOSIGNAL);
  });
  EXPECT_THAT([this] { channel_->read(); },
              ThrowsMessage<BadRequest>(HasSubstr("longer than 8388608 bytes")));
  channel_.reset();
  judge.join();
}

TEST_F(ChannelTest, RefusesAnAnswerBeyondTheLimit) {
  EXPECT_THROW(channel_->write(json(std::string(kMaxMessageBytes, 'x'))), BadRequest);
}

TEST_F(ChannelTest, WritesOneLineForEachMessage) {
  channel_->write({{"text", "a\nb"}});
  std::array<char, 64> got{};
  const ssize_t count = recv(judge_, got.data(), got.size(), 0);
  EXPECT_EQ(std::string(got.data(), static_cast<std::size_t>(count)), "{\"text\":\"a\\nb\"}\n");
}

TEST(Channel, SaysWhomItCannotReach) {
  EXPECT_THAT([] { Channel("127.0.0.1", "1"); },
              ThrowsMessage<std::runtime_error>(
                  "cannot reach the judge at 127.0.0.1:1: Connection refused"));
}

}  // namespace
}  // namespace tdconf::adapter
