// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/all_gather.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <algorithm>
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

void expect_usable(const World& world, int rank) {
  const auto tds = all_gather(world, testing::sample(10 * rank));
  ASSERT_EQ(static_cast<int>(tds.size()), world.default_group().size());
  for (std::size_t i = 0; i < tds.size(); ++i) {
    EXPECT_TRUE(testing::same(*tds[i], testing::sample(10 * static_cast<int>(i))));
  }
}

class AllGathers : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Ranks,
                         AllGathers,
                         ::testing::Values(2, 3),
                         ::testing::PrintToStringParamName());

TEST_P(AllGathers, BringTheTensorDictsOfAllRanksInOrder) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    expect_usable(world, rank);
    expect_usable(world, rank);
  });
}

// Each kind once comes from each rank, beside others of other structures and sizes.
TEST_P(AllGathers, BringEveryKindBesideOthers) {
  const auto& kinds = testing::kinds();
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    for (std::size_t first = 0; first < kinds.size(); ++first) {
      const auto kind_of = [&](std::size_t i) -> const testing::Kind& {
        return kinds[(first + i) % kinds.size()];
      };
      const auto tds = all_gather(world, *kind_of(static_cast<std::size_t>(rank)).td);
      for (std::size_t i = 0; i < tds.size(); ++i) {
        const auto& [name, td] = kind_of(i);
        EXPECT_TRUE(testing::same(*tds[i], *testing::without_class(td))) << name;
        EXPECT_TRUE(tds[i]->is_consolidated()) << name;
      }
    }
  });
}

TEST_P(AllGathers, OfEmptyTensorDictsBringThem) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto tds = all_gather(world, TensorDict({rank}));
    for (std::size_t i = 0; i < tds.size(); ++i) {
      EXPECT_TRUE(testing::same(*tds[i], TensorDict({static_cast<std::int64_t>(i)})));
    }
  });
}

TEST_P(AllGathers, KeepNoPadding) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto tds = all_gather(world, testing::with("a", testing::ramp(0, 2 + 100 * rank)));
    for (std::size_t i = 0; i < tds.size(); ++i) {
      const auto elements = static_cast<std::int64_t>(2 + 100 * i);
      EXPECT_EQ(tds[i]->consolidated().storage.numel(), 4 * elements);
      EXPECT_TRUE(testing::same(*tds[i], testing::with("a", testing::ramp(0, elements))));
    }
  });
}

TEST_P(AllGathers, CopyEvenWhatIsConsolidated) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto ready = consolidate(testing::sample(rank));
    const auto tds = all_gather(world, ready);
    for (const auto& td : tds) {
      EXPECT_NE(td->consolidated().storage.const_data_ptr(),
                ready.consolidated().storage.const_data_ptr());
    }
    EXPECT_TRUE(testing::same(*tds[static_cast<std::size_t>(rank)], testing::sample(rank)));
  });
}

TEST_P(AllGathers, FailOnEveryRankWhenOneCannotConsolidate) {
  const int size = GetParam();
  for (int other = 0; other < size; ++other) {
    testing::run_ranks(size, [&](World& world, int rank) {
      const auto td = rank == other ? testing::with_sparse_leaf() : testing::sample(1);
      EXPECT_THAT(error_of([&] { all_gather(world, td); }),
                  AllOf(HasSubstr("leaf 'z' cannot be consolidated"),
                        HasSubstr(rank == other ? "(all_gather of tensordicts)"
                                                : c10::str("rank ", other, " refused: "))));
      expect_usable(world, rank);
    });
  }
}

TEST(AllGatherInASubgroup, HasTheMembersInOrder) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({2, 0});
    if (rank == 1) {
      EXPECT_THROW(all_gather(world, testing::sample(1), {.group = group}), c10::ValueError);
      return;
    }
    const auto tds = all_gather(world, testing::sample(10 * rank), {.group = group});
    ASSERT_EQ(tds.size(), 2U);
    EXPECT_TRUE(testing::same(*tds[0], testing::sample(0)));
    EXPECT_TRUE(testing::same(*tds[1], testing::sample(20)));
  });
}

TEST(AllGatherInAStandaloneGroup, Works) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  testing::run_ranks(2, [&](World&, int rank) {
    const auto group = open_standalone(store, rank, 2, {.timeout = 20s});
    const auto tds = all_gather(World(), testing::sample(10 * rank), {.group = group});
    EXPECT_TRUE(testing::same(*tds.at(1), testing::sample(10)));
    group.all_gather(at::zeros({1}));  // neither rank leaves before the other is done
  });
}

TEST(AllGatherAlone, Consolidates) {
  testing::run_ranks(1, [](World& world, int rank) { expect_usable(world, rank); });
}

// What a rank sees that knows only c10d; the padding is zeros.
TEST(AllGatherOnTheWire, IsASizeAPickleAndAStorage) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        const auto mine = testing::sample(5);
        if (rank == 0) {
          EXPECT_EQ(all_gather(world, mine).size(), 2U);
          return;
        }
        const auto& group = world.default_group();
        const auto pickle = pickle_value(testing::metadata_with(8));
        const auto sizes =
            group.all_gather(testing::number(static_cast<std::int64_t>(pickle.size())));
        const auto bytes = sizes[0].item<std::int64_t>();
        const auto room = at::zeros({std::max(bytes, sizes[1].item<std::int64_t>())}, at::kByte);
        room.narrow(0, 0, sizes[1].item<std::int64_t>()).copy_(testing::bytes_of(pickle));
        const auto pickles = group.all_gather(room);
        const auto storages = group.all_gather(at::zeros({48}, at::kByte));
        const auto consolidated = consolidate(mine);
        auto metadata = consolidated_metadata(consolidated);
        metadata.get_if<Value::Dict>()->emplace_back("_total_bytes", 48);
        EXPECT_EQ(unpickle_value(as_bytes(pickles[0].narrow(0, 0, bytes))), metadata);
        EXPECT_FALSE(pickles[0].slice(0, bytes).any().item<bool>());
        EXPECT_TRUE(storages[0].equal(consolidated.consolidated().storage));
      },
      testing::plain_options());
}

TEST(AllGatherOnTheWire, KeepsOnlyOneKeyFree) {
  testing::run_ranks(1, [](World& world, int) {
    const auto inner = testing::with("a", at::ones({2}));
    EXPECT_THAT(error_of([&] { all_gather(world, testing::with("_total_bytes", inner)); }),
                HasSubstr("the nested key '_total_bytes' cannot travel"));
    for (const char* key : {"_storage_device", "_max_bytes", "_tensorclass_type"}) {
      const auto td = testing::with(key, inner);
      EXPECT_TRUE(testing::same(*all_gather(world, td).at(0), td));
    }
  });
}

// tensordict leaves the items of an earlier broadcast in the metadata.
TEST(AllGatherOnTheWire, MayNameMoreThanIsAskedFor) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        if (rank == 0) {
          const auto tds = all_gather(world, TensorDict());
          EXPECT_TRUE(testing::same(*tds.at(1), testing::with("a", at::zeros({2}))));
          return;
        }
        const auto& group = world.default_group();
        const auto pickle = testing::bytes_of(pickle_value(testing::metadata_with(
            8, {{"_storage_device", "cpu"}, {"_tensorclass_type", "a.module.Pair"}})));
        const auto sizes = group.all_gather(testing::number(pickle.numel()));
        ASSERT_LE(sizes[0].item<std::int64_t>(), pickle.numel());
        group.all_gather(pickle);
        group.all_gather(at::zeros({8}, at::kByte));
      },
      testing::plain_options());
}

// Rank 1 gives all such metadata; nobody waits for a storage, and the group stays usable.
TEST(AllGatherWithAHostileRank, IsRefusedOnEveryRank) {
  const auto all = testing::hostile_metadata();
  for (const auto& hostile : all) {
    testing::run_ranks(
        3,
        [&](World& world, int rank) {
          const auto& group = world.default_group();
          if (rank != 1) {
            EXPECT_THAT(error_of([&] { all_gather(world, TensorDict()); }),
                        HasSubstr(hostile.error))
                << hostile.name;
          } else {
            const auto sizes = group.all_gather(testing::number(hostile.size));
            if (hostile.size == static_cast<std::int64_t>(hostile.pickle.size())) {
              const auto largest = std::max(hostile.size, sizes[0].item<std::int64_t>());
              const auto room = at::zeros({largest}, at::kByte);
              room.narrow(0, 0, hostile.size).copy_(testing::bytes_of(hostile.pickle));
              group.all_gather(room);
            }
          }
          group.all_gather(testing::number(rank));
        },
        testing::plain_options());
  }
}

}  // namespace
}  // namespace tdref
