// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>
#include <tdref/recv.h>
#include <tdref/scatter.h>
#include <tdref/send.h>

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

std::vector<AnyTensorDict> samples(int first, int size) {
  std::vector<AnyTensorDict> tds;
  for (int rank = 0; rank < size; ++rank) {
    tds.emplace_back(testing::sample(first + rank));
  }
  return tds;
}

void expect_usable(const World& world, int rank) {
  ScatterOptions options{.src = 1};
  if (rank == 1) {
    options.tensordicts = samples(40, world.default_group().size());
  }
  EXPECT_TRUE(testing::same(*scatter(world, options), testing::sample(40 + rank)));
}

class Scatters : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Ranks,
                         Scatters,
                         ::testing::Values(2, 3),
                         ::testing::PrintToStringParamName());

// The list of another rank is not looked at.
TEST_P(Scatters, BringEachRankItsTensorDictFromEachRankInTurn) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    for (int src = 0; src < GetParam(); ++src) {
      const auto td = scatter(world,
                              {.src = src,
                               .tensordicts = samples(10 * rank, rank == src ? GetParam() : 1),
                               .device = at::Device("cpu")});
      EXPECT_TRUE(testing::same(*td, testing::sample(10 * src + rank)));
      EXPECT_TRUE(td->is_consolidated());
    }
  });
}

// Each kind once goes to each rank, beside others of other sizes.
TEST_P(Scatters, BringEveryKind) {
  const auto& kinds = testing::kinds();
  const auto size = static_cast<std::size_t>(GetParam());
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    for (std::size_t first = 0; first < kinds.size(); ++first) {
      ScatterOptions options{.src = 0};
      for (std::size_t i = 0; rank == 0 && i < size; ++i) {
        if (i == 0) options.tensordicts.emplace();
        options.tensordicts->push_back(kinds[(first + i) % kinds.size()].td);
      }
      const auto& [name, td] = kinds[(first + static_cast<std::size_t>(rank)) % kinds.size()];
      const auto result = scatter(world, options);
      EXPECT_TRUE(testing::same(*result, *testing::without_class(td))) << name;
    }
  });
}

TEST_P(Scatters, KeepNoPadding) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    ScatterOptions options{.src = 0};
    if (rank == 0) {
      options.tensordicts.emplace();
      for (int i = 0; i < GetParam(); ++i) {
        options.tensordicts->push_back(testing::with("a", testing::ramp(0, 2 + 100 * i)));
      }
    }
    const auto td = scatter(world, options);
    EXPECT_EQ(td->consolidated().storage.numel(), 4 * (2 + 100 * rank));
    EXPECT_TRUE(testing::same(*td, testing::with("a", testing::ramp(0, 2 + 100 * rank))));
  });
}

TEST_P(Scatters, GiveTensorDictsThatReceiveConsolidatedBatches) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    ScatterOptions options{.src = 0};
    if (rank == 0) {
      options.tensordicts = samples(0, GetParam());
    }
    auto td = scatter(world, options);
    if (rank == 0) {
      send(world, testing::sample(70), {.dst = 1, .consolidated = true});
    } else if (rank == 1) {
      recv(world, *td, {.src = 0, .consolidated = true});
      EXPECT_TRUE(testing::same(*td, testing::sample(70)));
    }
  });
}

// Neither their tensordicts nor the list change; what is returned on src is a copy.
TEST_P(Scatters, CopyEvenWhatIsConsolidated) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    const auto ready = consolidate(testing::sample(1));
    ScatterOptions options{.src = 0};
    if (rank == 0) {
      options.tensordicts.emplace(static_cast<std::size_t>(GetParam()), AnyTensorDict(ready));
    }
    const auto td = scatter(world, options);
    EXPECT_TRUE(testing::same(*td, testing::sample(1)));
    EXPECT_NE(td->consolidated().storage.const_data_ptr(),
              ready.consolidated().storage.const_data_ptr());
  });
}

void expect_failure_on_every_rank(int size,
                                  std::optional<std::vector<AnyTensorDict>> tensordicts,
                                  const std::string& complaint) {
  testing::run_ranks(size, [&](World& world, int rank) {
    ScatterOptions options{.src = 0};
    if (rank == 0) {
      options.tensordicts = tensordicts;
    }
    EXPECT_THAT(error_of([&] { scatter(world, options); }),
                AllOf(HasSubstr(complaint),
                      HasSubstr(rank == 0 ? "(scatter from group rank 0)"
                                          : "scatter from group rank 0: rank 0 refused: ")));
    expect_usable(world, rank);
  });
}

TEST_P(Scatters, FailOnEveryRankWhenTheListHasNotOneForEach) {
  const int size = GetParam();
  for (int wrong : {0, size - 1, size + 1}) {
    expect_failure_on_every_rank(
        size,
        samples(1, wrong),
        c10::str("one tensordict for each of the ", size, " ranks of the group, but"));
  }
  expect_failure_on_every_rank(size, std::nullopt, "scatter needs `tensordicts` on rank src");
}

TEST_P(Scatters, FailOnEveryRankWhenOneOfTheListCannotBeConsolidated) {
  for (int place = 0; place < GetParam(); ++place) {
    auto tds = samples(1, GetParam());
    tds[static_cast<std::size_t>(place)] = testing::with_sparse_leaf();
    expect_failure_on_every_rank(GetParam(), tds, "leaf 'z' cannot be consolidated");
  }
}

TEST_P(Scatters, FailOnEveryRankWhenOneWantsAnotherDevice) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    ScatterOptions options{.src = 0, .tensordicts = samples(1, GetParam())};
    if (rank == 1) {
      options.device = at::Device("cuda");
    }
    EXPECT_THAT(error_of([&] { scatter(world, options); }),
                HasSubstr("the device cuda is not served; allowed is cpu"));
    expect_usable(world, rank);
  });
}

TEST(ScatterArguments, AreOfTheRightType) {
  testing::run_ranks(1, [](World& world, int) {
    EXPECT_THROW(scatter(world, {}), c10::TypeError);
    EXPECT_THROW(scatter(world, {.tensordicts = samples(0, 2)}), c10::ValueError);
    EXPECT_THROW(scatter(world, {.src = 1}), c10::ValueError);
    const auto td = scatter(world, {.tensordicts = samples(3, 1)});
    EXPECT_TRUE(testing::same(*td, testing::sample(3)));
  });
}

TEST(ScatterInASubgroup, TakesGlobalRanks) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    for (int src : {1, 2}) {
      ScatterOptions options{.src = src, .tensordicts = samples(10 * src, 2), .group = group};
      if (rank == 0) {
        EXPECT_THROW(scatter(world, options), c10::ValueError);
      } else {
        EXPECT_TRUE(testing::same(*scatter(world, options), testing::sample(10 * src + rank - 1)));
      }
    }
  });
}

TEST(ScatterOnTheWire, RefusesNestedTensorDictsUnderItsOwnKeys) {
  testing::run_ranks(1, [](World& world, int) {
    for (const char* key : {"_total_bytes", "_max_bytes", "_storage_device"}) {
      const auto td = testing::with(key, testing::with("a", at::ones({2})));
      EXPECT_THAT(
          error_of([&] { scatter(world, {.tensordicts = std::vector{AnyTensorDict(td)}}); }),
          HasSubstr(c10::str("the nested key '", key, "' cannot travel")));
    }
  });
}

// What a rank sees that knows only c10d; the padding is zeros.
TEST(ScatterOnTheWire, IsASizeThenForEachRankAPickleItsSizeAndAStorage) {
  const auto mine = testing::sample(5);
  const auto larger = testing::with("a long name that makes a larger pickle", testing::ramp(1, 40));
  testing::run_ranks(
      2,
      [&](World& world, int rank) {
        if (rank == 0) {
          scatter(world, {.src = 0, .tensordicts = std::vector<AnyTensorDict>{larger, mine}});
          return;
        }
        const auto& group = world.default_group();
        const auto largest = testing::number(-1);
        group.broadcast(largest, 0);
        const auto pickle = at::empty({largest.item<std::int64_t>()}, at::kByte);
        group.scatter(pickle, {}, 0);
        const auto size = testing::number(-1);
        group.scatter(size, {}, 0);
        const auto storage = at::empty({160}, at::kByte);
        group.scatter(storage, {}, 0);
        const auto bytes = size.item<std::int64_t>();
        const auto consolidated = consolidate(mine);
        auto metadata = consolidated_metadata(consolidated);
        for (const auto& item :
             Value::Dict{{"_total_bytes", 48}, {"_max_bytes", 160}, {"_storage_device", "cpu"}}) {
          metadata.get_if<Value::Dict>()->push_back(item);
        }
        EXPECT_EQ(unpickle_value(as_bytes(pickle.narrow(0, 0, bytes))), metadata);
        EXPECT_FALSE(pickle.slice(0, bytes).any().item<bool>());
        EXPECT_TRUE(storage.narrow(0, 0, 48).equal(consolidated.consolidated().storage));
        EXPECT_FALSE(storage.slice(0, 48).any().item<bool>());
      },
      testing::plain_options());
}

// Rank 1 gives itself and the others such metadata; nobody waits for a storage.
void scatter_metadata(const Group& group, std::int64_t size, const at::Tensor& pickle) {
  const std::vector<at::Tensor> pickles(static_cast<std::size_t>(group.size()), pickle);
  const std::vector<at::Tensor> sizes(pickles.size(), testing::number(size));
  group.broadcast(testing::number(pickle.numel()), 1);
  group.scatter(at::empty_like(pickle), pickles, 1);
  group.scatter(testing::number(-1), sizes, 1);
}

TEST(ScatterFromAHostileRank, IsRefusedEverywhere) {
  const auto all = testing::hostile_metadata({{"_storage_device", "cpu"}, {"_max_bytes", 8}});
  for (const auto& hostile : all) {
    const std::string name = hostile.name;
    testing::run_ranks(
        3,
        [&](World& world, int rank) {
          const auto& group = world.default_group();
          const bool has_pickle = hostile.size == static_cast<std::int64_t>(hostile.pickle.size());
          if (rank == 1) {
            if (has_pickle) {
              scatter_metadata(group, hostile.size, testing::bytes_of(hostile.pickle));
            } else {
              group.broadcast(testing::number(hostile.size), 1);
            }
            return;
          }
          const auto* error = name == "absurd_leaf" ? "but 8 for the largest" : hostile.error;
          EXPECT_THAT(error_of([&] { scatter(world, {.src = 1}); }), HasSubstr(error)) << name;
        },
        testing::plain_options());
  }
}

TEST(ScatterFromAHostileRank, IsRefusedWhateverSizesItNames) {
  const auto pickle_with = [](Value max_bytes) {
    return testing::bytes_of(pickle_value(testing::metadata_with(
        8, {{"_storage_device", "cpu"}, {"_max_bytes", std::move(max_bytes)}})));
  };
  struct Wrong {
    std::int64_t size_above;  // what is added to the size of the pickle
    Value max_bytes;
    const char* error;
  };
  const std::vector<Wrong> wrongs{
      {1, 8, "bytes; allowed are 0 to those of the largest"},
      {-10000, 8, "bytes; allowed are 0 to those of the largest"},
      {0, std::int64_t{1} << 56, "a storage of 72057594037927936 bytes, which cannot be allocated"},
      {0, -1, "but -1 for the largest"},
      {0, "8", "_max_bytes"},
  };
  for (const auto& wrong : wrongs) {
    const auto pickle = pickle_with(wrong.max_bytes);
    testing::run_ranks(
        2,
        [&](World& world, int rank) {
          if (rank == 1) {
            scatter_metadata(world.default_group(), pickle.numel() + wrong.size_above, pickle);
          } else {
            EXPECT_THAT(error_of([&] { scatter(world, {.src = 1}); }), HasSubstr(wrong.error));
          }
        },
        testing::plain_options());
  }
}

}  // namespace
}  // namespace tdref
