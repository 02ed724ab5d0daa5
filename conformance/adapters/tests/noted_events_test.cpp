// SPDX-License-Identifier: BSD-3-Clause
#include "reference/noted_events.h"

#include <gmock/gmock.h>

#include <array>

#include "joined_ranks.h"
#include "reference/reference.h"

namespace tdconf::adapter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
