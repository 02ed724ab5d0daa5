// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/group.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <csignal>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "ranks.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

TEST(DefaultGroup, KnowsItsRanksAndBackend) {
  testing::run_ranks(2,
                     [](World& world, int rank) {
                       const auto& group = world.default_group();
                       EXPECT_EQ(group.kind(), Group::Kind::kDefault);
                       EXPECT_EQ(group.backend(), "cpu:gloo");
                       EXPECT_EQ(group.group_rank(), rank);
                       EXPECT_THAT(group.global_ranks(), ElementsAre(0, 1));
                       EXPECT_EQ(group.group_rank_of(1), 1);
                       EXPECT_THROW(group.group_rank_of(2), c10::ValueError);
                     },
                     {.backend = "cpu:gloo", .timeout = 20s});
}

using Action = void (*)(int);

Action action_of_sigpipe() {
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  return action.sa_handler;
}

TEST(OpeningAGroup, MakesABrokenConnectionAnErrorAndNotTheEnd) {
  const Action before = std::signal(SIGPIPE, SIG_DFL);
  testing::run_ranks(1, [](World&, int) { EXPECT_EQ(action_of_sigpipe(), SIG_IGN); });
  const Action own = [](int) {};
  std::signal(SIGPIPE, own);
  testing::run_ranks(1, [&](World&, int) { EXPECT_EQ(action_of_sigpipe(), own); });
  std::signal(SIGPIPE, before);
}

TEST(Subgroup, NumbersItsMembersByGlobalRank) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({2, 1});
    EXPECT_THAT(group.global_ranks(), ElementsAre(1, 2));
    EXPECT_EQ(group.group_rank_of(2), 1);
    EXPECT_EQ(group.is_member(), rank != 0);
    if (rank == 0) {
      EXPECT_THROW(group.group_rank(), c10::ValueError);
      EXPECT_THROW(group.all_gather(at::zeros({1})), c10::ValueError);
      return;
    }
    EXPECT_EQ(group.group_rank(), rank - 1);
    const auto ranks = group.all_gather(at::tensor({rank}));
    ASSERT_EQ(ranks.size(), 2U);
    EXPECT_EQ(ranks[0].item<int>(), 1);
    EXPECT_EQ(ranks[1].item<int>(), 2);
  });
}

TEST(Subgroup, HasTheBackendItWasGivenOrTheDefaultGroups) {
  testing::run_ranks(1, [](World& world, int) {
    EXPECT_EQ(world.new_group({0}).backend(), "gloo");
    EXPECT_EQ(world.new_group({0}, "undefined").backend(), "undefined");
  });
}

TEST(Subgroup, RejectsRanksThatMakeNoGroup) {
  testing::run_ranks(1, [](World& world, int) {
    EXPECT_THROW(world.new_group({}), c10::ValueError);
    EXPECT_THROW(world.new_group({0, 0}), c10::ValueError);
    EXPECT_THROW(world.new_group({1}), c10::ValueError);
    EXPECT_THROW(world.new_group({-1}), c10::ValueError);
    EXPECT_THROW(world.new_group({0}, "mpi"), c10::ValueError);
  });
}

TEST(StandaloneGroup, HasNoGlobalRanks) {
  const auto group =
      open_standalone(c10::make_intrusive<c10d::HashStore>(), 0, 1, {.timeout = 20s});
  EXPECT_EQ(group.kind(), Group::Kind::kStandalone);
  EXPECT_EQ(group.group_rank(), 0);
  EXPECT_THROW(group.global_ranks(), c10::ValueError);
  EXPECT_THROW(group.group_rank_of(0), c10::ValueError);
}

TEST(StandaloneGroup, WithoutItsPeerEndsAtTheDeadline) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  store->setTimeout(100ms);
  EXPECT_THROW(open_standalone(store, 0, 2, {.timeout = 100ms}), c10::DistStoreError);
}

TEST(Groups, RejectRanksOutsideThem) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  EXPECT_THROW(open_standalone(store, 2, 2), c10::ValueError);
  EXPECT_THROW(open_standalone(store, -1, 2), c10::ValueError);
  EXPECT_THROW(World::init_process_group(store, 0, 0), c10::ValueError);
  EXPECT_THROW(World::init_process_group(store, 0, 1, {.backend = "nccl"}), c10::ValueError);
}

TEST(World, WithoutDefaultGroupSaysSo) {
  World world;
  EXPECT_THROW(world.default_group(), c10::ValueError);
  EXPECT_THROW(world.new_group({0}), c10::ValueError);
}

TEST(Gather, GivesTheTensorsToOneRank) {
  testing::run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      const auto gathered = world.default_group().gather(at::tensor({10 * rank + dst}), dst);
      ASSERT_EQ(gathered.size(), rank == dst ? 3U : 0U);
      for (std::size_t i = 0; i < gathered.size(); ++i) {
        EXPECT_EQ(gathered[i].item<int>(), 10 * static_cast<int>(i) + dst);
      }
    }
  });
}

TEST(Broadcast, GivesTheTensorOfOneRankToAll) {
  for (int size : {2, 3}) {
    testing::run_ranks(size, [](World& world, int rank) {
      const auto& group = world.default_group();
      for (int src = 0; src < group.size(); ++src) {
        const auto tensor = at::tensor({rank, 10 * rank});
        group.broadcast(tensor, src);
        EXPECT_TRUE(tensor.equal(at::tensor({src, 10 * src})));
      }
    });
  }
}

TEST(Scatter, GivesEachRankATensorOfOneRank) {
  for (int size : {2, 3}) {
    testing::run_ranks(size, [](World& world, int rank) {
      const auto& group = world.default_group();
      for (int src = 0; src < group.size(); ++src) {
        std::vector<at::Tensor> tensors;
        for (int dst = 0; rank == src && dst < group.size(); ++dst) {
          tensors.push_back(at::tensor({100 * src + dst}));
        }
        const auto tensor = at::tensor({-1});
        group.scatter(tensor, tensors, src);
        EXPECT_EQ(tensor.item<int>(), 100 * src + rank);
      }
    });
  }
}

TEST(AllReduce, ReducesOnEveryRankAndIsPostedAtOnce) {
  for (int size : {2, 3}) {
    testing::run_ranks(size, [](World& world, int rank) {
      const auto& group = world.default_group();
      const auto sum = at::tensor({rank + 1});
      const auto largest = at::tensor({rank + 1});
      auto first = group.all_reduce(sum, c10d::ReduceOp::SUM);
      auto second = group.all_reduce(largest, c10d::ReduceOp::MAX);
      second.wait();
      first.wait();
      EXPECT_EQ(sum.item<int>(), group.size() * (group.size() + 1) / 2);
      EXPECT_EQ(largest.item<int>(), group.size());
    });
  }
}

TEST(Reduce, ReducesOnOneRank) {
  for (int size : {2, 3}) {
    testing::run_ranks(size, [](World& world, int rank) {
      const auto& group = world.default_group();
      for (int dst = 0; dst < group.size(); ++dst) {
        const auto product = at::tensor({rank + 2});
        group.reduce(product, dst, c10d::ReduceOp::PRODUCT).wait();
        if (rank == dst) {
          EXPECT_EQ(product.item<int>(), group.size() == 2 ? 2 * 3 : 2 * 3 * 4);
        }
      }
    });
  }
}

TEST(Collectives, ThatNobodyJoinsEndAtTheDeadline) {
  testing::run_ranks(2,
                     [](World& world, int rank) {
                       if (rank == 0) {
                         const auto& group = world.default_group();
                         EXPECT_THROW(group.broadcast(at::zeros({1}), 1), c10d::TimeoutError);
                         EXPECT_THROW(group.broadcast(at::zeros({1}), 1), c10::Error);
                       }
                     },
                     {.timeout = 300ms});
}

TEST(Work, ThatNobodyAnswersEndsAtTheDeadline) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      auto work = world.default_group().irecv(at::zeros({1}), 1, 0);
      EXPECT_THROW(work.wait(50ms), c10d::TimeoutError);
    }
  });
}

TEST(Work, WaitedForTwiceReturnsAtOnce) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto& group = world.default_group();
    auto work = rank == 0 ? group.isend(at::ones({1}), 1, 0) : group.irecv(at::zeros({1}), 0, 0);
    work.wait();
    work.wait();
  });
}

TEST(Group, ClosedRefusesToCommunicate) {
  testing::run_ranks(2, [](World& world, int rank) {
    world.default_group().close();
    EXPECT_THROW(world.default_group().isend(at::ones({1}), 1 - rank, 0), c10::Error);
    EXPECT_EQ(world.default_group().group_rank(), rank);
  });
}

class MuteBackend : public c10d::Backend {
 public:
  explicit MuteBackend(const c10d::Backend& inner) : Backend(inner.getRank(), inner.getSize()) {}
  const std::string getBackendName() const override { return "mute"; }
};

TEST(WrappedBackend, TakesEveryLaterMessage) {
  testing::run_ranks(1, [](World& world, int) {
    const auto& group = world.default_group();
    EXPECT_EQ(group.all_gather(at::ones({1})).size(), 1U);
    group.wrap_backend([](const auto& inner) { return c10::make_intrusive<MuteBackend>(*inner); });
    EXPECT_THROW(group.all_gather(at::ones({1})), c10::Error);
    EXPECT_THROW(group.isend(at::ones({1}), 0, 0), c10::Error);
    EXPECT_EQ(group.backend(), "gloo");
    EXPECT_EQ(group.group_rank(), 0);
  });
}

TEST(WrappedBackend, IsNotMadeForARankThatIsNotAMember) {
  testing::run_ranks(2, [](World& world, int rank) {
    int wrapped = 0;
    world.new_group({1}).wrap_backend([&](auto inner) {
      ++wrapped;
      return inner;
    });
    EXPECT_EQ(wrapped, rank == 1 ? 1 : 0);
  });
}

}  // namespace
}  // namespace tdref
