// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <future>

#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

void wait(Works works) {
  for (auto& work : works) {
    work.wait();
  }
}

void expect_sample(const TensorDict& td, int first) {
  EXPECT_TRUE(td.get("b").tensor().equal(testing::sample(first).get("b").tensor()));
  EXPECT_TRUE(td.get("a").tensor().equal(testing::sample(first).get("a").tensor()));
}

TEST(Isend, ReturnsTheLastTagAndIrecvNothing) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      EXPECT_EQ(std::get<std::int64_t>(isend(world, testing::sample(1), {.dst = 1, .init_tag = 3})),
                5);
      return;
    }
    auto td = testing::poisoned_sample();
    EXPECT_FALSE(irecv(world, td, {.src = 0, .init_tag = 3}).has_value());
    expect_sample(td, 1);
  });
}

TEST(Isend, ReturnsOneWorkForEachLeaf) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      const auto td = testing::sample(1);
      auto works = std::get<Works>(isend(world, td, {.dst = 1, .return_early = true}));
      EXPECT_EQ(works.size(), 3U);
      wait(std::move(works));
      return;
    }
    auto td = testing::poisoned_sample();
    auto works = irecv(world, td, {.src = 0, .return_premature = true}).value();
    EXPECT_EQ(works.size(), 3U);
    wait(std::move(works));
    expect_sample(td, 1);
  });
}

TEST(Isend, BothWaysAtOnceCompletes) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto sent = testing::sample(10 * rank);
    auto received = testing::poisoned_sample();
    auto sends = std::get<Works>(isend(world, sent, {.dst = 1 - rank, .return_early = true}));
    wait(irecv(world, received, {.src = 1 - rank, .return_premature = true}).value());
    wait(std::move(sends));
    expect_sample(received, 10 * (1 - rank));
  });
}

TEST(Isend, OfTwoTransfersIsMatchedByTagInEitherOrder) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      const auto first = testing::sample(1);
      const auto second = testing::sample(2);
      auto works = std::get<Works>(isend(world, first, {.dst = 1, .return_early = true}));
      isend(world, second, {.dst = 1, .init_tag = 3});
      wait(std::move(works));
      return;
    }
    auto second = testing::poisoned_sample();
    auto first = testing::poisoned_sample();
    irecv(world, second, {.src = 0, .init_tag = 3});
    recv(world, first, {.src = 0});
    expect_sample(first, 1);
    expect_sample(second, 2);
  });
}

TEST(Isend, WhoseWorksAreDroppedStillArrives) {
  std::promise<void> dropped;
  testing::run_ranks(2, [&](World& world, int rank) {
    if (rank == 0) {
      isend(world, testing::sample(1), {.dst = 1, .return_early = true});
      dropped.set_value();
      return;
    }
    dropped.get_future().wait();
    auto td = testing::poisoned_sample();
    recv(world, td, {.src = 0});
    expect_sample(td, 1);
  });
}

TEST(Irecv, WritesWhenTheWorkIsWaitedForAlsoIntoViews) {
  testing::run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    if (rank == 0) {
      td.set("a", testing::ramp(0, 6).view({2, 3}));
      send(world, td, {.dst = 1});
      return;
    }
    const auto base = at::full({3, 2}, -1, at::kFloat);
    td.set("a", base.t());
    auto works = irecv(world, td, {.src = 0, .return_premature = true}).value();
    EXPECT_TRUE(base.equal(at::full({3, 2}, -1, at::kFloat)));
    wait(std::move(works));
    EXPECT_TRUE(base.equal(testing::ramp(0, 6).view({2, 3}).t()));
  });
}

TEST(Isend, ConsolidatedReturnsNothingOrOneWork) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      EXPECT_EQ(isend(world, testing::sample(1), {.dst = 1, .consolidated = true}).index(), 0U);
      auto td = testing::sample(2);
      auto works =
          std::get<Works>(isend(world, td, {.dst = 1, .return_early = true, .consolidated = true}));
      td.get("a").tensor().fill_(99);  // the message is a copy taken at the call
      EXPECT_EQ(works.size(), 1U);
      wait(std::move(works));
      return;
    }
    auto td = consolidate(testing::sample(100));
    EXPECT_FALSE(irecv(world, td, {.src = 0, .consolidated = true}).has_value());
    expect_sample(td, 1);
    auto works =
        irecv(world, td, {.src = 0, .return_premature = true, .consolidated = true}).value();
    ASSERT_EQ(works.size(), 1U);
    wait(std::move(works));
    expect_sample(td, 2);
  });
}

TEST(Isend, OfNoLeavesReturnsTheTagBeforeInitTag) {
  testing::run_ranks(2, [](World& world, int rank) {
    EXPECT_EQ(std::get<std::int64_t>(isend(world, TensorDict(), {.dst = 1 - rank, .init_tag = 4})),
              3);
    EXPECT_TRUE(std::get<Works>(isend(world, TensorDict(), {.dst = 1 - rank, .return_early = true}))
                    .empty());
  });
}

}  // namespace
}  // namespace tdref
