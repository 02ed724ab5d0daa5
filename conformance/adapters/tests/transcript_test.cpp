// SPDX-License-Identifier: BSD-3-Clause
#include "common/transcript.h"

#include <gmock/gmock.h>

#include <thread>

namespace tdconf::adapter {
namespace {

using namespace std::chrono_literals;

TEST(Transcript, ListsEventsInTheOrderInWhichTheyBeganWithTheirStep) {
  Transcript transcript;
  transcript.add({{"event", "first"}});
  transcript.set_step(7);
  transcript.add({{"event", "second"}});
  transcript.set_step(std::nullopt);
  transcript.add({{"event", "third"}});
  EXPECT_EQ(transcript.events(),
            json({{{"event", "first"}, {"step", nullptr}},
                  {{"event", "second"}, {"step", 7}},
                  {{"event", "third"}, {"step", nullptr}}}));
}

TEST(Transcript, CompletesAnEventInItsPlace) {
  Transcript transcript;
  const auto sent = transcript.add({{"done", false}, {"sha256", "known"}});
  const auto received = transcript.add({{"done", false}, {"sha256", nullptr}});
  transcript.complete(received, "new");
  EXPECT_EQ(transcript.events(),
            json({{{"done", false}, {"sha256", "known"}, {"step", nullptr}},
                  {{"done", true}, {"sha256", "new"}, {"step", nullptr}}}));
  transcript.complete(sent, std::nullopt);
  EXPECT_EQ(transcript.events()[0], json({{"done", true}, {"sha256", "known"}, {"step", nullptr}}));
}

TEST(Transcript, ForgetsAnEventThatDidNotHappen) {
  Transcript transcript;
  transcript.add({{"event", "first"}});
  const auto refused = transcript.add({{"event", "second"}});
  transcript.add({{"event", "third"}});
  transcript.drop(refused);
  EXPECT_EQ(
      transcript.events(),
      json({{{"event", "first"}, {"step", nullptr}}, {{"event", "third"}, {"step", nullptr}}}));
}

TEST(Transcript, DoesNotShowAnEventOfAnEarlierCase) {
  Transcript transcript;
  const auto late = transcript.add({{"event", "old"}, {"done", false}});
  transcript.clear();
  transcript.add({{"event", "new"}, {"done", false}});
  transcript.complete(late, "digest");
  EXPECT_EQ(transcript.events(),
            json::array({{{"event", "new"}, {"done", false}, {"step", nullptr}}}));
}

TEST(Transcript, EndsOnceWhatWaitedHasBecomeItsMessages) {
  Transcript transcript;
  const auto waiting = transcript.add_waiting({{"tag", 5}, {"waits", true}}, [] {
    return std::vector<json>{{{"waited", "too long"}}};
  });
  std::jthread poster([&] {
    transcript.add({{"tag", 5}});
    transcript.add({{"tag", 6}});
    transcript.drop(waiting);
  });
  EXPECT_EQ(transcript.last_events(20s),
            json({{{"tag", 5}, {"step", nullptr}}, {{"tag", 6}, {"step", nullptr}}}));
}

TEST(Transcript, EndsWithAllMessagesOfWhatStillWaitsInItsPlace) {
  Transcript transcript;
  transcript.set_step(3);
  transcript.add_waiting({{"tag", 5}}, [] {
    return std::vector<json>{{{"tag", 5}}, {{"tag", 6}}};
  });
  transcript.set_step(4);
  transcript.add({{"tag", 9}});
  EXPECT_EQ(transcript.events(), json({{{"tag", 5}, {"step", 3}}, {{"tag", 9}, {"step", 4}}}));
  EXPECT_EQ(
      transcript.last_events(0s),
      json({{{"tag", 5}, {"step", 3}}, {{"tag", 6}, {"step", 3}}, {{"tag", 9}, {"step", 4}}}));
}

TEST(Transcript, DoesNotWaitForWhatWaitedInAnEarlierCase) {
  Transcript transcript;
  const auto late = transcript.add_waiting({{"event", "old"}}, [] {
    return std::vector<json>{{{"event", "old"}}};
  });
  transcript.clear();
  EXPECT_EQ(transcript.last_events(0s), json::array());
  transcript.drop(late);
  EXPECT_EQ(transcript.last_events(0s), json::array());
}

TEST(Transcript, IsReadWhileItGrows) {
  constexpr std::size_t kEvents = 1000;
  Transcript transcript;
  std::jthread writer([&] {
    for (std::size_t i = 0; i < kEvents; ++i) transcript.complete(transcript.add({{"n", i}}), "x");
  });
  std::size_t seen = 0;
  while (seen < kEvents) {
    const json events = transcript.events();
    ASSERT_GE(events.size(), seen);
    seen = events.size();
    if (seen > 0) {
      EXPECT_EQ(events.back()["n"], seen - 1);
    }
  }
}

}  // namespace
}  // namespace tdconf::adapter
