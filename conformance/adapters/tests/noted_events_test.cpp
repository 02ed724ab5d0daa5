// SPDX-License-Identifier: BSD-3-Clause
#include "reference/noted_events.h"

#include <gmock/gmock.h>

#include <array>
#include <future>

#include "joined_ranks.h"
#include "reference/reference.h"

namespace tdconf::adapter {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// {a: float32[rows, 3]}: 12 bytes a row, and 16 with the padding.
json tree_of(std::vector<std::int64_t> shape, std::vector<std::int64_t> batch_size) {
  const json leaf{
      {"kind", "tensor"}, {"dtype", "float32"}, {"shape", shape}, {"fill", {{"const", 1}}}};
  return {{"kind", "tensordict"},
          {"batch_size", batch_size},
          {"names", nullptr},
          {"device", nullptr},
          {"entries", json::array({json::array({"a", leaf})})},
          {"consolidated", false},
          {"locked", false}};
}

/// Two leaves float32[3] of these keys.
json pair_of(const std::string& first, const std::string& second) {
  json tree = tree_of({3}, {});
  json leaf = tree["entries"][0][1];
  tree["entries"] = json::array({json::array({first, leaf}), json::array({second, leaf})});
  return tree;
}

/// Carries out a step that must return.
void carry_out(const Player& player, const std::string& op, const json& args) {
  const json answer = answer_step(player, {.op = op, .args = args, .as = std::nullopt});
  EXPECT_EQ(answer["type"], "returned") << answer;
}

std::vector<std::string> names_of(const json& events) {
  std::vector<std::string> names;
  for (const json& event : events) names.push_back(event["event"]);
  return names;
}

class NotedEventsTest : public testing::Test {
 protected:
  /// Lets rank 0 gather from rank 1 and returns the transcripts by rank.
  static std::array<json, 2> gather_and_stack(const std::string& backend) {
    std::array<Reference, 2> references;  // connected until both ranks have returned
    std::array<json, 2> transcripts;
    run_joined_ranks(2, {default_group(2, backend)}, [&](const Join& join) {
      const auto rank = static_cast<std::size_t>(join.rank);
      const Player player = references[rank].player();
      EXPECT_EQ(answer_join(player, join)["type"], "joined");
      const bool is_dst = join.rank == 0;
      const json tree = is_dst ? tree_of({1, 3}, {1}) : tree_of({3}, {});
      carry_out(player, "make", {{"name", "td"}, {"tree", tree}});
      EXPECT_THAT(player.transcript->events(), IsEmpty());
      carry_out(player, "gather_and_stack", {{"td", "td"}, {"dst", 0}});
      transcripts[rank] = player.transcript->events();
    });
    return transcripts;
  }

  /// Begins a transfer with first tag 5 of a tensordict made of `tree`, and waits for nothing.
  static void start_early(const Player& player,
                          const std::string& op,
                          const json& tree,
                          json args) {
    carry_out(player, "make", {{"name", "td"}, {"tree", tree}});
    args.update({{"td", "td"}, {"init_tag", 5}});
    args[op == "isend" ? "return_early" : "return_premature"] = true;
    const Step step{.op = op, .args = args, .as = "works"};
    EXPECT_EQ(answer_step(player, step)["type"], "returned");
  }

  /// Lets rank 0 send {a, b} to rank 1, which receives into `target`, and returns by rank what the
  /// transcripts say in the end.
  static std::array<json, 2> start_early_at_both_ends(const json& target) {
    std::array<Reference, 2> references;  // connected until both ranks have looked
    std::array<json, 2> transcripts;
    run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
      const auto rank = static_cast<std::size_t>(join.rank);
      const Player player = references[rank].player();
      EXPECT_EQ(answer_join(player, join)["type"], "joined");
      if (rank == 0) {
        start_early(player, "isend", pair_of("a", "b"), {{"dst", 1}});
      } else {
        start_early(player, "irecv", target, {{"src", 0}});
      }
      transcripts[rank] = player.transcript->last_events(20s);
    });
    return transcripts;
  }
};

TEST_F(NotedEventsTest, OfAStorageAreItsConsolidationAndThePickleOfItsMetadata) {
  auto seen = gather_and_stack("gloo");
  EXPECT_THAT(names_of(seen[0]), ElementsAre("all_gather", "gather", "unpickle"));
  EXPECT_THAT(names_of(seen[1]), ElementsAre("consolidate", "pickle", "all_gather", "gather"));
  EXPECT_EQ(seen[1][0], json({{"event", "consolidate"}, {"bytes", 16}, {"step", nullptr}}));
  EXPECT_EQ(seen[0][2]["bytes"], seen[1][1]["bytes"]);
}

TEST_F(NotedEventsTest, OfAPickleAreNoConsolidation) {
  auto seen = gather_and_stack("cpu:gloo");
  EXPECT_THAT(names_of(seen[0]), ElementsAre("all_gather", "gather", "unpickle"));
  EXPECT_THAT(names_of(seen[1]), ElementsAre("pickle", "all_gather", "gather"));
}

TEST_F(NotedEventsTest, OfATransferThatWaitsForItsOtherEndAreItsMessagesNotDone) {
  std::array<Reference, 2> references;
  std::promise<void> looked;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    const Player player = references[static_cast<std::size_t>(join.rank)].player();
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    carry_out(player, "make", {{"name", "td"}, {"tree", tree_of({3}, {})}});
    if (join.rank == 1) {
      looked.get_future().wait();
      carry_out(player, "recv", {{"td", "td"}, {"src", 0}, {"init_tag", 5}});
      EXPECT_THAT(names_of(player.transcript->events()), ElementsAre("recv"));
      return;
    }
    const json args{{"td", "td"}, {"dst", 1}, {"init_tag", 5}, {"return_early", true}};
    const Step send{.op = "isend", .args = args, .as = "works"};
    EXPECT_EQ(answer_step(player, send)["type"], "returned");
    json waiting = player.transcript->events();
    EXPECT_THAT(names_of(waiting), ElementsAre("send"));
    EXPECT_EQ(waiting[0]["tag"], 5);
    EXPECT_EQ(waiting[0]["peer"], 1);
    EXPECT_EQ(waiting[0]["bytes"], 12);
    EXPECT_EQ(waiting[0]["done"], false);
    looked.set_value();
    carry_out(player, "wait", {{"works", "works"}});
    waiting[0]["done"] = true;
    EXPECT_EQ(player.transcript->events(), waiting);
  });
}

TEST_F(NotedEventsTest, OfACollectiveThatWaitsForAnotherRankAreItsCallsNotDone) {
  std::array<Reference, 2> references;
  std::promise<void> looked;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    const Player player = references[static_cast<std::size_t>(join.rank)].player();
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    carry_out(player, "make", {{"name", "td"}, {"tree", pair_of("a", "b")}});
    if (join.rank == 1) looked.get_future().wait();
    const json args{{"td", "td"}, {"async_op", true}};
    const Step reduce{.op = "all_reduce", .args = args, .as = "works"};
    EXPECT_EQ(answer_step(player, reduce)["type"], "returned");
    json waiting = player.transcript->events();
    if (join.rank == 0) {
      EXPECT_THAT(names_of(waiting), ElementsAre("all_reduce"));
      EXPECT_THAT(names_of(player.transcript->last_events(0s)),
                  ElementsAre("all_reduce", "all_reduce"));
      EXPECT_EQ(waiting[0]["peer"], nullptr);
      EXPECT_EQ(waiting[0]["bytes"], 12);
      EXPECT_EQ(waiting[0]["done"], false);
      EXPECT_FALSE(waiting[0].contains("tag"));
      looked.set_value();
    }
    carry_out(player, "wait", {{"works", "works"}});
    const json events = player.transcript->events();
    EXPECT_THAT(names_of(events), ElementsAre("all_reduce", "all_reduce"));
    for (const json& event : events) EXPECT_EQ(event["done"], true);
  });
}

TEST_F(NotedEventsTest, OfABroadcastAreItsThreeCallsAndWhatHappensBetweenThem) {
  std::array<Reference, 2> references;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    const Player player = references[static_cast<std::size_t>(join.rank)].player();
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    carry_out(player, "make", {{"name", "td"}, {"tree", tree_of({3}, {})}});
    const json args{{"td", "td"}, {"src", 1}};
    const json answer = answer_step(player, {.op = "broadcast", .args = args, .as = "result"});
    EXPECT_EQ(answer["value"], (json{{"kind", "value"}, {"name", "result"}}));
    const json events = player.transcript->events();
    if (join.rank == 1) {
      EXPECT_THAT(names_of(events),
                  ElementsAre("consolidate", "pickle", "broadcast", "broadcast", "broadcast"));
    } else {
      EXPECT_THAT(names_of(events), ElementsAre("broadcast", "broadcast", "unpickle", "broadcast"));
    }
  });
}

TEST_F(NotedEventsTest, OfAnEarlyTransferThatNobodyWaitsForAreAllItsMessages) {
  const auto seen = start_early_at_both_ends(pair_of("a", "b"));
  for (const json& events : seen) {
    ASSERT_EQ(events.size(), 2);
    EXPECT_EQ(events[0]["tag"], 5);
    EXPECT_EQ(events[1]["tag"], 6);
  }
  EXPECT_THAT(names_of(seen[0]), ElementsAre("send", "send"));
  EXPECT_THAT(names_of(seen[1]), ElementsAre("recv", "recv"));
}

TEST_F(NotedEventsTest, OfAnEarlyTransferThatIsRefusedAreNone) {
  const auto seen = start_early_at_both_ends(pair_of("a", "c"));
  EXPECT_THAT(seen, Each(json::array()));
}

TEST_F(NotedEventsTest, OfAnEarlyTransferWithoutAnotherEndAreAllItsMessages) {
  std::array<Reference, 2> references;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    const Player player = references[static_cast<std::size_t>(join.rank)].player();
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    if (join.rank == 1) return;
    start_early(player, "isend", pair_of("a", "b"), {{"dst", 1}});
    EXPECT_THAT(names_of(player.transcript->events()), ElementsAre("send"));
    const json last = player.transcript->last_events(0s);
    EXPECT_THAT(names_of(last), ElementsAre("send", "send"));
    EXPECT_EQ(last[0], player.transcript->events()[0]);
    EXPECT_EQ(last[1]["tag"], 6);
    EXPECT_EQ(last[1]["sha256"], last[0]["sha256"]);
  });
}

TEST_F(NotedEventsTest, OfAStructureAreAPickleBesideItsThreeMessages) {
  std::array<Reference, 2> references;
  std::array<json, 2> seen;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    const auto rank = static_cast<std::size_t>(join.rank);
    const Player player = references[rank].player();
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    if (rank == 0) {
      carry_out(player, "make", {{"name", "td"}, {"tree", tree_of({3}, {})}});
      carry_out(player, "init_remote", {{"td", "td"}, {"dst", 1}});
    } else {
      const Step receive{.op = "from_remote_init", .args = {{"src", 0}}, .as = "got"};
      EXPECT_EQ(answer_step(player, receive)["value"], (json{{"kind", "value"}, {"name", "got"}}));
      carry_out(player, "snapshot", {{"td", "got"}});
    }
    seen[rank] = player.transcript->events();
  });
  EXPECT_THAT(names_of(seen[0]), ElementsAre("consolidate", "pickle", "send", "send", "send"));
  EXPECT_THAT(names_of(seen[1]), ElementsAre("recv", "recv", "unpickle", "recv"));
  EXPECT_EQ(seen[0][3]["bytes"], seen[0][1]["bytes"]);
  EXPECT_EQ(seen[1][2]["bytes"], seen[0][1]["bytes"]);
  EXPECT_EQ(seen[1][3]["bytes"], 16);
}

TEST_F(NotedEventsTest, AreForgottenAtTheNextJoin) {
  Reference reference;
  const Player player = reference.player();
  json tree = tree_of({3}, {});
  tree["consolidated"] = true;
  carry_out(player, "make", {{"name", "td"}, {"tree", tree}});
  EXPECT_THAT(names_of(player.transcript->events()), ElementsAre("consolidate"));
  run_joined_ranks(1, {default_group(1)}, [&](const Join& join) {
    EXPECT_EQ(answer_join(player, join)["type"], "joined");
    EXPECT_THAT(player.transcript->events(), IsEmpty());
  });
}

}  // namespace
}  // namespace tdconf::adapter
