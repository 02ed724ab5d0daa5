// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <tdref/all_reduce.h>
#include <tdref/announcement.h>
#include <tdref/broadcast.h>
#include <tdref/consolidate.h>
#include <tdref/gather_and_stack.h>
#include <tdref/isend.h>
#include <tdref/observe.h>
#include <tdref/pickle.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <functional>
#include <future>

#include "ranks.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// Writes down the name and the bytes of each event.
class Notes : public Observer {
 public:
  std::shared_ptr<void> announced(const Announcement& announcement) override {
    for (const auto& message : announcement.messages) {
      waiting.emplace_back(!announcement.collective.empty() ? announcement.collective
                           : announcement.sends             ? "send"
                                                            : "receipt",
                           message.tag);
    }
    return {nullptr, [this](std::nullptr_t) { waiting.clear(); }};
  }
  void pickled(std::size_t nbytes) override { events.emplace_back("pickle", nbytes); }
  void unpickled(std::size_t nbytes) override { events.emplace_back("unpickle", nbytes); }
  void consolidated(std::size_t nbytes) override { events.emplace_back("consolidate", nbytes); }
  void copied(std::size_t nbytes) override { events.emplace_back("copy", nbytes); }

  std::vector<std::pair<std::string, std::size_t>> events;
  std::vector<std::pair<std::string, std::size_t>> waiting;
};

using Event = std::pair<std::string, std::size_t>;

// float32[3] has 12 bytes, and 16 with its padding.
TensorDict row() {
  TensorDict td;
  td.set("a", at::ones({3}));
  return td;
}

TensorDict target(std::int64_t rows) {
  TensorDict td({rows});
  td.set("a", at::zeros({rows, 3}));
  return td;
}

std::size_t pickled_metadata_bytes() {
  return pickle_value(consolidated_metadata(consolidate(row()))).size();
}

TEST(Observer, SeesStoragesAndTheirMetadataGathered) {
  const auto metadata_bytes = pickled_metadata_bytes();
  testing::run_ranks(3, [&](World& world, int rank) {
    Notes notes;
    const ObserverGuard guard(notes);
    auto td = rank == 0 ? target(2) : row();
    gather_and_stack(world, td, {.dst = 0});
    if (rank == 0) {
      EXPECT_THAT(notes.events,
                  ElementsAre(Event("unpickle", metadata_bytes),
                              Event("unpickle", metadata_bytes),
                              Event("copy", 12),
                              Event("copy", 12)));
    } else {
      EXPECT_THAT(notes.events,
                  ElementsAre(Event("consolidate", 16), Event("pickle", metadata_bytes)));
    }
  });
}

TEST(Observer, SeesPicklesGathered) {
  const auto pickle_bytes = pickle_tensordict(row()).size();
  testing::run_ranks(2,
                     [&](World& world, int rank) {
                       Notes notes;
                       const ObserverGuard guard(notes);
                       auto td = rank == 0 ? target(1) : row();
                       gather_and_stack(world, td, {.dst = 0});
                       if (rank == 0) {
                         EXPECT_THAT(
                             notes.events,
                             ElementsAre(Event("unpickle", pickle_bytes), Event("copy", 12)));
                       } else {
                         EXPECT_THAT(notes.events, ElementsAre(Event("pickle", pickle_bytes)));
                       }
                     },
                     {.backend = "cpu:gloo", .timeout = 20s});
}

TEST(Observer, SeesTheStorageOfAConsolidatedSendUnlessItWasThereBefore) {
  testing::run_ranks(2, [](World& world, int rank) {
    auto ready = consolidate(row());
    Notes notes;
    const ObserverGuard guard(notes);
    if (rank == 0) {
      send(world, ready, {.dst = 1, .consolidated = true});
      EXPECT_THAT(notes.events, IsEmpty());
      send(world, row(), {.dst = 1, .consolidated = true});
      EXPECT_THAT(notes.events, ElementsAre(Event("consolidate", 16)));
    } else {
      recv(world, ready, {.src = 0, .consolidated = true});
      recv(world, ready, {.src = 0, .consolidated = true});
      EXPECT_THAT(notes.events, IsEmpty());
    }
  });
}

// Metadata that travels says more than that which describes the storage alone.
TEST(Observer, SeesWhatIsBroadcast) {
  const auto bare_metadata_bytes = pickled_metadata_bytes();
  testing::run_ranks(2, [&](World& world, int rank) {
    const auto ready = consolidate(row());
    for (const bool is_ready : {false, true}) {
      Notes notes;
      const ObserverGuard guard(notes);
      if (rank == 0) {
        broadcast(world, is_ready ? ready : row(), {.src = 0});
      } else {
        broadcast(world, TensorDict(), {.src = 0});
      }
      const bool copies = rank == 0 && !is_ready;
      ASSERT_EQ(notes.events.size(), copies ? 2U : 1U);
      EXPECT_EQ(notes.events.back().first, rank == 0 ? "pickle" : "unpickle");
      EXPECT_GT(notes.events.back().second, bare_metadata_bytes);
      if (copies) {
        EXPECT_EQ(notes.events.front(), Event("consolidate", 16));
      }
    }
  });
}

// Who waits for others in a collective waits in its first call, once.
TEST(Observer, SeesACollectiveThatWaitsForAnotherRank) {
  std::promise<void> looked;
  testing::run_ranks(2, [&](World& world, int rank) {
    Notes notes;
    const ObserverGuard guard(notes);
    auto td = row();
    if (rank == 1) {
      looked.get_future().wait();
    }
    auto works = all_reduce(world, td, {.async_op = true}).value();
    if (rank == 0) {
      EXPECT_THAT(notes.waiting, ElementsAre(Event("all_reduce", 0)));
      looked.set_value();
    }
    for (auto& work : works) {
      work.wait();
    }
    EXPECT_THAT(notes.waiting, IsEmpty());
  });
}

TEST(Observer, SeesNothingOfALeafWiseTransfer) {
  testing::run_ranks(2, [](World& world, int rank) {
    auto td = row();
    Notes notes;
    const ObserverGuard guard(notes);
    if (rank == 0) {
      send(world, td, {.dst = 1});
    } else {
      recv(world, td, {.src = 0});
    }
    EXPECT_THAT(notes.events, IsEmpty());
  });
}

// Says whether the call went well; the only way in which it may not is that the ends do not fit.
bool fits(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const c10::ValueError&) {
    return false;
  }
}

// Rank 0 sends the leaves a and b; rank 1 receives into `target`, but not before rank 0 has looked.
void send_to_one_that_comes_late(const TensorDict& target, bool target_fits) {
  std::promise<void> looked;
  testing::run_ranks(2, [&](World& world, int rank) {
    Notes notes;
    const ObserverGuard guard(notes);
    if (rank == 1) {
      looked.get_future().wait();
      auto td = target;
      EXPECT_EQ(fits([&] { recv(world, td, {.src = 0, .init_tag = 5}); }), target_fits);
    } else {
      auto td = row();
      td.set("b", at::zeros({1}));
      auto works =
          std::get<Works>(isend(world, td, {.dst = 1, .init_tag = 5, .return_early = true}));
      EXPECT_THAT(notes.waiting, ElementsAre(Event("send", 5), Event("send", 6)));
      looked.set_value();
      for (auto& work : works) {
        EXPECT_EQ(fits([&] { work.wait(); }), target_fits);
      }
    }
    EXPECT_THAT(notes.waiting, IsEmpty());
  });
}

TEST(Observer, SeesWhatWaitsForItsOtherEndUntilItIsPosted) {
  auto td = row();
  td.set("b", at::zeros({1}));
  send_to_one_that_comes_late(td, /*target_fits=*/true);
}

TEST(Observer, SeesWhatWaitsForItsOtherEndUntilItHasFailed) {
  send_to_one_that_comes_late(row(), /*target_fits=*/false);
}

TEST(Observer, SeesOnlyWhatHappensUnderTheInnermostGuard) {
  Notes outer;
  Notes inner;
  const ObserverGuard guard(outer);
  {
    const ObserverGuard inner_guard(inner);
    consolidate(row());
  }
  EXPECT_THAT(inner.events, ElementsAre(Event("consolidate", 16)));
  EXPECT_THAT(outer.events, IsEmpty());
  consolidate(row());
  EXPECT_THAT(outer.events, ElementsAre(Event("consolidate", 16)));
}

}  // namespace
}  // namespace tdref
