// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/all_gather.h>
#include <tdref/broadcast.h>
#include <tdref/consolidate.h>
#include <tdref/from_remote_init.h>
#include <tdref/init_remote.h>
#include <tdref/pickle.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "codec/bytes.h"
#include "kinds.h"
#include "outside.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// What `result` holds or points at.
const TensorDictBase& content(const BroadcastResult& result) {
  const auto* self = std::get_if<const TensorDictBase*>(&result);
  return self != nullptr ? **self : *std::get<AnyTensorDict>(result);
}

void expect_usable(const World& world, int rank) {
  const auto result = broadcast(world, testing::sample(rank), {.src = 1});
  EXPECT_TRUE(testing::same(content(result), testing::sample(1)));
}

class Broadcasts : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Ranks,
                         Broadcasts,
                         ::testing::Values(2, 3),
                         ::testing::PrintToStringParamName());

TEST_P(Broadcasts, BringTheTensorDictOfEachRankInTurn) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    for (int src = 0; src < GetParam(); ++src) {
      const auto td = testing::sample(10 * rank);
      const auto result = broadcast(world, td, {.src = src, .device = at::Device("cpu:0")});
      EXPECT_TRUE(testing::same(content(result), testing::sample(10 * src)));
      EXPECT_TRUE(content(result).is_consolidated());
      EXPECT_TRUE(std::holds_alternative<AnyTensorDict>(result));
      EXPECT_FALSE(td.is_consolidated());
      EXPECT_TRUE(testing::same(td, testing::sample(10 * rank)));
    }
  });
}

TEST_P(Broadcasts, BringEveryKindToWhoeverHasAnother) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    for (const auto& [name, td] : testing::kinds()) {
      const auto& own = rank == 0 ? *td : *testing::kinds().at(8).td;
      const auto result = broadcast(world, own, {});
      EXPECT_TRUE(testing::same(content(result), *td)) << name;
      EXPECT_TRUE(content(result).is_consolidated()) << name;
    }
  });
}

TEST_P(Broadcasts, ReturnAConsolidatedTensorDictItselfOnItsRank) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto td = consolidate(testing::sample(rank));
    const void* memory = td.consolidated().storage.const_data_ptr();
    const auto result = broadcast(world, td, {.src = 1});
    if (rank == 1) {
      EXPECT_EQ(std::get<const TensorDictBase*>(result), &td);
      EXPECT_EQ(td.consolidated().storage.const_data_ptr(), memory);
    } else {
      EXPECT_TRUE(testing::same(*std::get<AnyTensorDict>(result), testing::sample(1)));
      EXPECT_TRUE(testing::same(td, testing::sample(rank)));
    }
  });
}

TEST_P(Broadcasts, FailOnEveryRankWhenTheirRootCannotConsolidate) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto text = error_of([&] { broadcast(world, testing::with_sparse_leaf(), {.src = 0}); });
    EXPECT_THAT(text,
                AllOf(HasSubstr("leaf 'z' cannot be consolidated"),
                      HasSubstr(rank == 0 ? "(broadcast from group rank 0)"
                                          : "broadcast from group rank 0: rank 0 refused: ")));
    expect_usable(world, rank);
  });
}

TEST_P(Broadcasts, FailOnEveryRankWhenRanksNameDifferentRoots) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    EXPECT_THAT(error_of([&] { broadcast(world, TensorDict(), {.src = rank == 0 ? 1 : 0}); }),
                HasSubstr("the operation is broadcast from group rank 1 on rank 0 and broadcast "
                          "from group rank 0 on rank 1; nothing of it was sent"));
    expect_usable(world, rank);
  });
}

TEST_P(Broadcasts, FailOnEveryRankWhenOneCallsSomethingElse) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto text = error_of([&] {
      if (rank == 0) {
        all_gather(world, testing::sample(1));
      } else {
        broadcast(world, testing::sample(1), {.src = 1});
      }
    });
    EXPECT_THAT(text,
                HasSubstr("the operation is all_gather of tensordicts on rank 0 and broadcast from "
                          "group rank 1 on rank 1"));
    expect_usable(world, rank);
  });
}

TEST_P(Broadcasts, FailOnEveryRankWhenOneWantsAnotherDevice) {
  const int size = GetParam();
  for (int picky = 0; picky < size; ++picky) {
    testing::run_ranks(size, [&](World& world, int rank) {
      BroadcastOptions options{.src = 0};
      if (rank == picky) {
        options.device = at::Device("cuda:0");
      }
      EXPECT_THAT(error_of([&] { broadcast(world, testing::sample(1), options); }),
                  HasSubstr("the device cuda:0 is not served; allowed is cpu"));
      expect_usable(world, rank);
    });
  }
}

TEST_P(Broadcasts, FailOnEveryRankWhenTheirRootIsNoMember) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    for (int src : {-1, 7}) {
      EXPECT_THROW(broadcast(world, TensorDict(), {.src = src}), c10::ValueError);
    }
    expect_usable(world, rank);
  });
}

TEST(BroadcastInASubgroup, TakesGlobalRanks) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    for (int src : {1, 2}) {
      const BroadcastOptions options{.src = src, .group = group};
      if (rank == 0) {
        EXPECT_THROW(broadcast(world, testing::sample(0), options), c10::ValueError);
      } else {
        const auto result = broadcast(world, testing::sample(rank), options);
        EXPECT_TRUE(testing::same(content(result), testing::sample(src)));
      }
    }
    if (rank != 0) {
      EXPECT_THROW(broadcast(world, TensorDict(), {.src = 0, .group = group}), c10::ValueError);
    }
  });
}

TEST(BroadcastInAStandaloneGroup, IsRefused) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  testing::run_ranks(2, [&](World&, int rank) {
    const auto group = open_standalone(store, rank, 2, {.timeout = 20s});
    EXPECT_THROW(broadcast(World(), TensorDict(), {.src = 0, .group = group}), c10::ValueError);
    group.all_gather(at::zeros({1}));  // neither rank leaves before the other is done
  });
}

TEST(BroadcastAlone, ConsolidatesOnly) {
  testing::run_ranks(1, [](World& world, int) {
    const auto result = broadcast(world, testing::sample(1), {});
    EXPECT_TRUE(testing::same(content(result), testing::sample(1)));
  });
}

// What a rank sees that knows only c10d.
TEST(BroadcastOnTheWire, IsASizeAPickleAndAStorage) {
  testing::run_ranks(
      3,
      [](World& world, int rank) {
        const TensorClass td({"a.module", "Pair"}, testing::sample(1));
        if (rank == 1) {
          broadcast(world, td, {.src = 1});
          return;
        }
        const auto& group = world.default_group();
        const auto size = testing::number(-1);
        group.broadcast(size, 1);
        const auto pickle = at::empty({size.item<std::int64_t>()}, at::kByte);
        group.broadcast(pickle, 1);
        const auto storage = at::empty({48}, at::kByte);
        group.broadcast(storage, 1);
        const auto consolidated = consolidate(td);
        auto metadata = consolidated_metadata(consolidated);
        for (const auto& item : Value::Dict{{"_total_bytes", 48},
                                            {"_storage_device", "cpu"},
                                            {"_tensorclass_type", "a.module.Pair"}}) {
          metadata.get_if<Value::Dict>()->push_back(item);
        }
        EXPECT_EQ(unpickle_value(as_bytes(pickle)), metadata);
        EXPECT_TRUE(storage.equal(consolidated.consolidated().storage));
      },
      testing::plain_options());
}

TEST(BroadcastOnTheWire, RefusesNestedTensorDictsUnderItsOwnKeys) {
  testing::run_ranks(2, [](World& world, int rank) {
    for (const char* key : {"_total_bytes", "_storage_device", "_tensorclass_type"}) {
      const auto inner = testing::with("a", at::ones({2}));
      EXPECT_THAT(error_of([&] { broadcast(world, testing::with(key, inner), {}); }),
                  HasSubstr(c10::str("the nested key '", key, "' cannot travel")));
      const auto leaf = testing::with(key, at::ones({2}));
      EXPECT_TRUE(testing::same(content(broadcast(world, leaf, {})), leaf));
      const auto below = testing::with("n", testing::with(key, inner));
      EXPECT_TRUE(testing::same(content(broadcast(world, below, {})), below));
    }
    expect_usable(world, rank);
  });
}

// Rank 1 gives the others such metadata; nobody waits for a storage.
TEST(BroadcastFromAHostileRank, IsRefusedEverywhere) {
  const auto all = testing::hostile_metadata({{"_storage_device", "cpu"}});
  for (const auto& hostile : all) {
    testing::run_ranks(
        3,
        [&](World& world, int rank) {
          if (rank != 1) {
            EXPECT_THAT(error_of([&] { broadcast(world, TensorDict(), {.src = 1}); }),
                        HasSubstr(hostile.error))
                << hostile.name;
            return;
          }
          const auto& group = world.default_group();
          group.broadcast(testing::number(hostile.size), 1);
          if (hostile.size == static_cast<std::int64_t>(hostile.pickle.size())) {
            group.broadcast(testing::bytes_of(hostile.pickle), 1);
          }
        },
        testing::plain_options());
  }
}

TEST(BroadcastFromAHostileRank, IsRefusedIfItsStorageIsElsewhereUnlessADeviceIsGiven) {
  const auto pickle =
      testing::bytes_of(pickle_value(testing::metadata_with(8, {{"_storage_device", "cuda:0"}})));
  for (const bool is_given : {false, true}) {
    testing::run_ranks(
        2,
        [&](World& world, int rank) {
          const auto& group = world.default_group();
          if (rank == 0) {
            group.broadcast(testing::number(pickle.numel()), 0);
            group.broadcast(pickle, 0);
            if (is_given) group.broadcast(at::zeros({8}, at::kByte), 0);
          } else if (is_given) {
            const auto result =
                broadcast(world, TensorDict(), {.src = 0, .device = at::Device("cpu")});
            EXPECT_TRUE(testing::same(content(result), testing::with("a", at::zeros({2}))));
          } else {
            EXPECT_THAT(error_of([&] { broadcast(world, TensorDict(), {.src = 0}); }),
                        HasSubstr("a storage on the device 'cuda:0', which is not served"));
          }
        },
        testing::plain_options());
  }
}

TEST_P(Broadcasts, AreWhatInitRemoteDoesWithUseBroadcast) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    for (const auto& [name, td] : testing::kinds()) {
      if (rank == 1) {
        init_remote(world, *td, {.dst = 0, .use_broadcast = true});
      } else if (rank == 0) {
        const auto result = from_remote_init(world, {.src = 1, .use_broadcast = true});
        EXPECT_TRUE(testing::same(*result, *td)) << name;
      } else {
        const auto result = broadcast(world, TensorDict(), {.src = 1});
        EXPECT_TRUE(testing::same(content(result), *td)) << name;
      }
    }
  });
}

TEST_P(Broadcasts, FailOnEveryRankWhenTheSenderReceives) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    EXPECT_THAT(error_of([&] { from_remote_init(world, {.src = 0, .use_broadcast = true}); }),
                HasSubstr("src is this rank itself (group rank 0)"));
    expect_usable(world, rank);
  });
}

TEST(InitRemoteWithUseBroadcast, InASubgroupTakesGlobalRanks) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({0, 2});
    if (rank == 2) {
      init_remote(
          world, testing::sample(1), {.group = group, .device = at::kCPU, .use_broadcast = true});
    } else if (rank == 0) {
      const auto td = from_remote_init(
          world, {.src = 2, .group = group, .device = at::kCPU, .use_broadcast = true});
      EXPECT_TRUE(testing::same(*td, testing::sample(1)));
    }
  });
}

TEST(InitRemote, OnAnotherDeviceFailsOnBothRanks) {
  testing::run_ranks(2, [](World& world, int rank) {
    for (const int picky : {0, 1}) {
      const auto device = rank == picky ? std::optional(at::Device("cuda:1")) : std::nullopt;
      const auto text = error_of([&] {
        if (rank == 0) {
          init_remote(world, testing::sample(1), {.dst = 1, .device = device});
        } else {
          from_remote_init(world, {.src = 0, .device = device});
        }
      });
      EXPECT_THAT(text, HasSubstr("the device cuda:1 is not served; allowed is cpu"));
    }
    if (rank == 0) {
      init_remote(world, testing::sample(1), {.dst = 1, .device = at::kCPU});
    } else {
      const auto td = from_remote_init(world, {.src = 0, .device = at::kCPU});
      EXPECT_TRUE(testing::same(*td, testing::sample(1)));
    }
  });
}

}  // namespace
}  // namespace tdref
