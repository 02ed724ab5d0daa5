// SPDX-License-Identifier: BSD-3-Clause
#include "common/spy.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <array>
#include <future>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "common/groups.h"
#include "common/tensors.h"
#include "joined_ranks.h"

namespace tdconf::adapter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

// FIPS 180-2, appendix B.1.
const std::string kDigestOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const GroupSpec kPair{.name = "pair", .kind = "subgroup", .ranks = {2, 1}, .backend = "gloo"};
const GroupSpec kAside{.name = "aside", .kind = "standalone", .ranks = {2, 0}, .backend = "gloo"};

at::Tensor abc() {
  return at::tensor({97, 98, 99}, at::kByte);
}

at::Tensor zeros_for_abc() {
  return at::zeros({3}, at::kByte);
}

json event_of_abc(const std::string& event, std::int64_t peer, const std::string& group) {
  return {{"event", event},
          {"group", group},
          {"peer", peer},
          {"tag", 5},
          {"dtype", "uint8"},
          {"shape", {3}},
          {"bytes", 3},
          {"sha256", kDigestOfAbc},
          {"done", true},
          {"step", nullptr}};
}

/// The values of one field, event by event.
std::vector<json> field_of(const json& events, const std::string& key) {
  std::vector<json> values;
  for (const json& event : events) values.push_back(event[key]);
  return values;
}

struct Rank {
  std::shared_ptr<Transcript> transcript = std::make_shared<Transcript>();
  Groups groups{transcript};
};

/// Runs a program on every rank that has joined and returns what each transcript says in the end.
/// Connections stay open until the last rank has returned.
std::vector<json> transcripts_of(
    std::size_t world_size,
    std::vector<GroupSpec> groups,
    const std::function<void(const Groups& groups, std::int64_t rank)>& program) {
  groups.insert(groups.begin(), default_group(static_cast<std::int64_t>(world_size)));
  std::vector<Rank> ranks(world_size);
  run_joined_ranks(static_cast<std::int64_t>(world_size), groups, [&](const Join& join) {
    Groups& joined = ranks[static_cast<std::size_t>(join.rank)].groups;
    joined.join(join);
    program(joined, join.rank);
  });
  std::vector<json> transcripts;
  for (const Rank& rank : ranks) transcripts.push_back(rank.transcript->events());
  return transcripts;
}

/// Sends "abc" from one group rank to another under tag 5, within the group of that name.
void exchange_abc(const Groups& groups, const std::string& name, int from, int to) {
  const tdref::Group& group = groups.named(name);
  if (group.group_rank() == from) group.isend(abc(), to, 5).wait();
  if (group.group_rank() == to) group.irecv(zeros_for_abc(), from, 5).wait();
}

TEST(Spy, NotesBothEndsOfAMessageWithTheSameContents) {
  auto seen = transcripts_of(
      2, {}, [](const Groups& groups, auto) { exchange_abc(groups, "default", 0, 1); });
  EXPECT_EQ(seen[0], json::array({event_of_abc("send", 1, "default")}));
  EXPECT_EQ(seen[1], json::array({event_of_abc("recv", 0, "default")}));
}

TEST(Spy, NamesAPeerInASubgroupByItsGlobalRank) {
  auto seen = transcripts_of(3, {kPair}, [](const Groups& groups, std::int64_t rank) {
    if (rank != 0) exchange_abc(groups, "pair", 0, 1);
  });
  EXPECT_EQ(seen[0], json::array());
  EXPECT_EQ(seen[1], json::array({event_of_abc("send", 2, "pair")}));
  EXPECT_EQ(seen[2], json::array({event_of_abc("recv", 1, "pair")}));
}

TEST(Spy, NamesAPeerInAStandaloneGroupByItsGlobalRank) {
  auto seen = transcripts_of(3, {kAside}, [](const Groups& groups, std::int64_t rank) {
    if (rank != 1) exchange_abc(groups, "aside", 0, 1);
  });
  EXPECT_EQ(seen[2], json::array({event_of_abc("send", 0, "aside")}));
  EXPECT_EQ(seen[1], json::array());
  EXPECT_EQ(seen[0], json::array({event_of_abc("recv", 2, "aside")}));
}

TEST(Spy, ListsCallsAsTheyBeginNotAsTheyEnd) {
  auto seen = transcripts_of(2, {}, [](const Groups& groups, std::int64_t rank) {
    const tdref::Group& group = groups.named(std::nullopt);
    std::vector<tdref::Work> works;
    for (const int tag : {9, 3, 5}) {
      works.push_back(rank == 0 ? group.isend(abc(), 1, tag)
                                : group.irecv(zeros_for_abc(), 0, tag));
    }
    for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
  });
  EXPECT_THAT(field_of(seen[0], "tag"), ElementsAre(9, 3, 5));
  EXPECT_THAT(field_of(seen[1], "tag"), ElementsAre(9, 3, 5));
}

TEST(Spy, TakesTheDigestOfWhatIsSentAtTheCall) {
  auto seen = transcripts_of(2, {}, [](const Groups& groups, std::int64_t rank) {
    const tdref::Group& group = groups.named(std::nullopt);
    if (rank == 0) {
      const at::Tensor sent = abc();
      auto work = group.isend(sent, 1, 5);
      group.all_gather(at::zeros({1}));  // the other rank has received
      sent.zero_();
      work.wait();
    } else {
      group.irecv(zeros_for_abc(), 0, 5).wait();
      group.all_gather(at::zeros({1}));
    }
  });
  EXPECT_EQ(seen[0][0], event_of_abc("send", 1, "default"));
}

TEST(Spy, ShowsAReceiptThatBlocksAsNotDone) {
  std::array<Rank, 2> ranks;
  json while_blocked;
  run_joined_ranks(2, {default_group(2)}, [&](const Join& join) {
    Groups& groups = ranks[static_cast<std::size_t>(join.rank)].groups;
    groups.join(join);
    if (join.rank == 0) {
      const auto deadline = std::chrono::steady_clock::now() + 20s;
      while (while_blocked.empty() && std::chrono::steady_clock::now() < deadline) {
        while_blocked = ranks[1].transcript->events();
      }
    }
    exchange_abc(groups, "default", 0, 1);
  });
  json expected = event_of_abc("recv", 0, "default");
  EXPECT_EQ(ranks[1].transcript->events(), json::array({expected}));
  expected["done"] = false;
  expected["sha256"] = nullptr;
  EXPECT_EQ(while_blocked, json::array({expected}));
}

TEST(Spy, LeavesACallThatTimesOutUndoneAndPassesItsErrorOn) {
  auto seen = transcripts_of(2, {}, [](const Groups& groups, std::int64_t rank) {
    if (rank == 1) {
      auto work = groups.named(std::nullopt).irecv(zeros_for_abc(), 0, 5);
      EXPECT_THROW(work.wait(50ms), c10d::TimeoutError);
    }
  });
  EXPECT_THAT(field_of(seen[1], "done"), ElementsAre(false));
  EXPECT_THAT(field_of(seen[1], "sha256"), ElementsAre(nullptr));
}

TEST(Spy, NotesTheRootOfAGatherByItsGlobalRankAndOnlyThisRanksTensor) {
  auto seen = transcripts_of(3, {kPair}, [](const Groups& groups, std::int64_t rank) {
    if (rank == 0) return;
    groups.named("pair").all_gather(at::zeros({1}));
    groups.named("pair").gather(abc(), 0);
  });
  for (const std::size_t rank : {1U, 2U}) {
    EXPECT_THAT(field_of(seen[rank], "event"), ElementsAre("all_gather", "gather"));
    EXPECT_THAT(field_of(seen[rank], "peer"), ElementsAre(nullptr, 1));
    EXPECT_THAT(field_of(seen[rank], "shape"), ElementsAre(json{1}, json{3}));
    EXPECT_THAT(field_of(seen[rank], "done"), ElementsAre(true, true));
    EXPECT_EQ(seen[rank][1]["sha256"], kDigestOfAbc);
    EXPECT_FALSE(seen[rank][1].contains("tag"));
  }
}

/// A backend that can do nothing.
class MuteBackend final : public c10d::Backend {
 public:
  MuteBackend() : Backend(0, 2) {}
  const std::string getBackendName() const override { return "mute"; }
};

/// What is noted of calls on backends themselves, by rank.
class SpyBackendTest : public testing::Test {
 protected:
  static inline const SpyOptions kOptions{.group = "g", .global_ranks = {4, 7}};

  template <typename Program>
  std::vector<json> on_two_ranks(const Program& program) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    std::array<c10::intrusive_ptr<SpyBackend>, 2> spies;  // open until both ranks have returned
    std::vector<std::future<json>> ranks;
    for (const int rank : {0, 1}) {
      ranks.push_back(std::async(std::launch::async, [&, rank] {
        const auto transcript = std::make_shared<Transcript>();
        auto& spy = spies[static_cast<std::size_t>(rank)];
        spy = c10::make_intrusive<SpyBackend>(
            c10::make_intrusive<c10d::ProcessGroupGloo>(
                store, rank, 2, c10d::ProcessGroupGloo::Options::create_default(20s)),
            kOptions,
            transcript);
        EXPECT_EQ(spy->getBackendName(), "gloo");
        std::vector<at::Tensor> tensors{rank == 0 ? abc() : zeros_for_abc()};
        EXPECT_TRUE(program(*spy, tensors)->wait());
        return transcript->events();
      }));
    }
    return {ranks[0].get(), ranks[1].get()};
  }
};

TEST_F(SpyBackendTest, TakesTheDigestOfABroadcastWhereItArrives) {
  const auto seen = on_two_ranks(
      [](SpyBackend& spy, auto& tensors) { return spy.broadcast(tensors, {.rootRank = 0}); });
  for (const json& events : seen) {
    EXPECT_THAT(field_of(events, "event"), ElementsAre("broadcast"));
    EXPECT_THAT(field_of(events, "peer"), ElementsAre(4));
    EXPECT_THAT(field_of(events, "sha256"), ElementsAre(kDigestOfAbc));
  }
}

TEST_F(SpyBackendTest, TakesTheDigestOfWhatARankGetsOfAScatter) {
  const auto seen = on_two_ranks([](SpyBackend& spy, auto& tensors) {
    std::vector<std::vector<at::Tensor>> inputs;
    if (spy.getRank() == 1) inputs.push_back({abc(), zeros_for_abc()});
    c10d::ScatterOptions options;
    options.rootRank = 1;
    return spy.scatter(tensors, inputs, options);
  });
  const std::vector<at::Tensor> got{abc(), zeros_for_abc()};
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_THAT(field_of(seen[rank], "event"), ElementsAre("scatter"));
    EXPECT_THAT(field_of(seen[rank], "peer"), ElementsAre(7));
    EXPECT_THAT(field_of(seen[rank], "sha256"), ElementsAre(*digest_of(got[rank])));
  }
}

TEST_F(SpyBackendTest, TakesTheDigestOfWhatARankPutsIntoAReduction) {
  c10d::ReduceOptions options;
  options.rootRank = 1;
  const auto reduced =
      on_two_ranks([&](SpyBackend& spy, auto& tensors) { return spy.reduce(tensors, options); });
  EXPECT_THAT(field_of(reduced[0], "event"), ElementsAre("reduce"));
  EXPECT_THAT(field_of(reduced[0], "peer"), ElementsAre(7));
  EXPECT_THAT(field_of(reduced[0], "sha256"), ElementsAre(kDigestOfAbc));
}

TEST_F(SpyBackendTest, TakesTheDigestOfTheResultThatAllRanksGet) {
  const auto seen =
      on_two_ranks([](SpyBackend& spy, auto& tensors) { return spy.allreduce(tensors, {}); });
  for (const json& events : seen) {
    EXPECT_THAT(field_of(events, "event"), ElementsAre("all_reduce"));
    EXPECT_THAT(field_of(events, "peer"), ElementsAre(nullptr));
    // Rank 1 put in zeros.
    EXPECT_THAT(field_of(events, "sha256"), ElementsAre(kDigestOfAbc));
  }
}

TEST_F(SpyBackendTest, DoesNotNoteACallThatIsRefused) {
  const auto transcript = std::make_shared<Transcript>();
  SpyBackend spy(c10::make_intrusive<MuteBackend>(), kOptions, transcript);
  std::vector<at::Tensor> tensors{abc()};
  try {
    spy.send(tensors, 1, 5);
    ADD_FAILURE() << "a mute backend sent something";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Backend mute does not support send"));
  }
  EXPECT_EQ(transcript->events(), json::array());
}

TEST_F(SpyBackendTest, RefusesACallThatItWouldNotNote) {
  EXPECT_THROW(
      on_two_ranks([](SpyBackend& spy, auto& tensors) { return spy.recvAnysource(tensors, 5); }),
      c10::Error);
}

}  // namespace
}  // namespace tdconf::adapter
