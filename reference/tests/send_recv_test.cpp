// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using namespace std::chrono_literals;

void expect_sample(const TensorDict& td, int first) {
  EXPECT_TRUE(td.get("b").tensor().equal(testing::sample(first).get("b").tensor()));
  EXPECT_TRUE(td.get("a").tensor().equal(testing::sample(first).get("a").tensor()));
  EXPECT_TRUE(td.get(KeyPath{"n", "c"}).tensor().equal(testing::false_true()));
}

TEST(Send, ReachesEachOtherRankInTurn) {
  testing::run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      for (int src = 0; src < 3; ++src) {
        if (src != dst && rank == src) {
          send(world, testing::sample(10 * src + dst), {.dst = dst});
        } else if (src != dst && rank == dst) {
          auto td = testing::poisoned_sample();
          EXPECT_EQ(recv(world, td, {.src = src}), 2);
          expect_sample(td, 10 * src + dst);
        }
      }
    }
  });
}

TEST(Send, GivesLeafIOfTheSortedKeysTheTagInitTagPlusI) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        if (rank == 0) {
          send(world, testing::sample(1), {.dst = 1, .init_tag = 5});
          return;
        }
        const auto a = at::zeros({2}, at::kLong);
        const auto b = at::zeros({2, 3});
        const auto c = at::ones({2}, at::kBool);
        const auto& group = world.default_group();
        Works works{group.irecv(c, 0, 7), group.irecv(b, 0, 6), group.irecv(a, 0, 5)};
        for (auto& work : works) {
          work.wait();
        }
        EXPECT_TRUE(a.equal(at::tensor({1, 2}, at::kLong)));
        EXPECT_TRUE(b.equal(testing::ramp(1, 6).view({2, 3})));
        EXPECT_TRUE(c.equal(testing::false_true()));
      },
      testing::plain_options());
}

TEST(Send, AndTwoSendsWithTheSameTagsArriveInOrder) {
  testing::run_ranks(2, [](World& world, int rank) {
    for (const int first : {1, 100, 200}) {
      if (rank == 0) {
        send(world, testing::sample(first), {.dst = 1});
      } else {
        auto td = testing::poisoned_sample();
        recv(world, td, {.src = 0});
        expect_sample(td, first);
      }
    }
  });
}

TEST(Send, FillsViewsFromViews) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto base = at::full({3, 2}, -1, at::kFloat);
    TensorDict td;
    td.set("m", rank == 0 ? testing::ramp(0, 6).view({2, 3}) : base.t());
    td.set("strided", rank == 0 ? testing::ramp(0, 6).slice(0, 0, 6, 2) : at::zeros({3}));
    td.set("expanded", rank == 0 ? at::ones({1}).expand({2}) : at::zeros({2}));
    td.set("conj",
           rank == 0 ? at::complex(at::ones({1}), at::ones({1})).conj()
                     : at::zeros({1}, at::kComplexFloat));
    td.set("grad", at::full({2}, rank == 0 ? 4 : 0, at::kFloat).set_requires_grad(true));
    if (rank == 0) {
      send(world, td, {.dst = 1});
      return;
    }
    recv(world, td, {.src = 0});
    EXPECT_TRUE(base.equal(testing::ramp(0, 6).view({2, 3}).t()));
    EXPECT_TRUE(td.get("strided").tensor().equal(at::tensor({0., 2., 4.}, at::kFloat)));
    EXPECT_TRUE(td.get("expanded").tensor().equal(at::ones({2})));
    EXPECT_TRUE(at::imag(td.get("conj").tensor()).equal(-at::ones({1})));
    EXPECT_TRUE(td.get("grad").tensor().equal(at::full({2}, 4, at::kFloat)));
    EXPECT_TRUE(td.get("grad").tensor().requires_grad());
  });
}

TEST(Send, WithPseudoRandUsesItsTags) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      send(world, testing::sample(1), {.dst = 1, .init_tag = 1, .pseudo_rand = true});
      return;
    }
    auto td = testing::poisoned_sample();
    EXPECT_EQ(recv(world, td, {.src = 0, .init_tag = 1, .pseudo_rand = true}), 8050);
    expect_sample(td, 1);
  });
}

TEST(Send, ConsolidatedIsOneMessageOfBytesWithTagZero) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        if (rank == 0) {
          send(world, testing::sample(1), {.dst = 1, .init_tag = 9, .consolidated = true});
          send(world, consolidate(testing::sample(50)), {.dst = 1, .consolidated = true});
          return;
        }
        const auto bytes = at::zeros({48}, at::kByte);
        world.default_group().irecv(bytes, 0, 0).wait();
        EXPECT_TRUE(bytes.narrow(0, 0, 24).view(at::kFloat).equal(testing::ramp(1, 6)));
        EXPECT_TRUE(bytes.narrow(0, 40, 8).equal(at::tensor({0, 1, 0, 0, 0, 0, 0, 0}, at::kByte)));

        auto td = consolidate(testing::sample(1));
        EXPECT_EQ(recv(world, td, {.src = 0, .consolidated = true}), std::nullopt);
        expect_sample(td, 50);
      },
      testing::plain_options());
}

TEST(Recv, KeepsNonTensorData) {
  testing::run_ranks(2, [](World& world, int rank) {
    auto td = testing::sample(rank + 1);
    td.set("a_text", NonTensor{rank});
    if (rank == 0) {
      send(world, td, {.dst = 1});
      return;
    }
    EXPECT_EQ(recv(world, td, {.src = 0}), 2);
    EXPECT_EQ(td.get("a_text").non_tensor()->data, Value(1));
    expect_sample(td, 1);
  });
}

TEST(Recv, OfNoLeavesReturnsTheTagBeforeInitTag) {
  testing::run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    EXPECT_EQ(recv(world, td, {.src = 1 - rank}), -1);
  });
}

TEST(Send, InASubgroupTakesGlobalRanksOrGroupRanks) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    if (rank == 1) {
      send(world, testing::sample(1), {.dst = 2, .group = group});
      send(world, testing::sample(2), {.group = group, .group_dst = 1});
    } else if (rank == 2) {
      auto td = testing::poisoned_sample();
      recv(world, td, {.group = group, .group_src = 0});
      expect_sample(td, 1);
      recv(world, td, {.src = 1, .group = group});
      expect_sample(td, 2);
    }
  });
}

TEST(Send, InAStandaloneGroupTakesGroupRanks) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  testing::run_ranks(2, [&](World&, int rank) {
    const auto group = open_standalone(store, rank, 2, {.timeout = 20s});
    if (rank == 0) {
      send(World(), testing::sample(1), {.group = group, .group_dst = 1});
    } else {
      auto td = testing::poisoned_sample();
      recv(World(), td, {.group = group, .group_src = 0});
      expect_sample(td, 1);
    }
    group.gather(at::zeros({1}), 0);  // neither rank leaves before the other is done
  });
}

}  // namespace
}  // namespace tdref
