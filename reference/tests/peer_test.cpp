// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/errors.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// The message of the ValueError that `call` throws.
std::string value_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "no ValueError";
}

TEST(Peer, IsNamedExactlyOnceAndInTheOrderOfPythonsChecks) {
  testing::run_ranks(1, [](World& world, int) {
    const auto group = world.default_group();
    auto td = testing::sample(1);
    EXPECT_EQ(value_error([&] { send(world, td, {.dst = 0, .group_dst = 0}); }),
              "`group_dst` requires `group` to be passed.");
    EXPECT_EQ(value_error([&] { isend(world, td, {.dst = 0, .group = group, .group_dst = 0}); }),
              "`dst` and `group_dst` are mutually exclusive.");
    EXPECT_EQ(value_error([&] { recv(world, td, {.group = group}); }),
              "Exactly one of `src` and `group_src` must be provided.");
    EXPECT_EQ(value_error([&] { irecv(world, td, {.group_src = 0}); }),
              "`group_src` requires `group` to be passed.");
  });
}

TEST(Peer, MustBeAnotherRankOfTheGroup) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    auto td = testing::sample(1);
    for (const int dst : {rank, 3, -1}) {
      EXPECT_THROW(send(world, td, {.dst = dst}), c10::ValueError);
      EXPECT_THROW(isend(world, TensorDict(), {.dst = dst}), c10::ValueError);
      EXPECT_THROW(recv(world, td, {.src = dst}), c10::ValueError);
      EXPECT_THROW(irecv(world, td, {.src = dst, .consolidated = true}), c10::ValueError);
    }
    EXPECT_THROW(send(world, td, {.dst = 0, .group = group}), c10::ValueError);
    EXPECT_THROW(send(world, td, {.group = group, .group_dst = 2}), c10::ValueError);
    if (rank == 0) {
      EXPECT_THAT(value_error([&] { send(world, td, {.dst = 1, .group = group}); }),
                  HasSubstr("Invalid process group specified"));
    }
  });
}

TEST(Peer, OfAStandaloneGroupHasOnlyAGroupRank) {
  const auto group =
      open_standalone(c10::make_intrusive<c10d::HashStore>(), 0, 1, {.timeout = 20s});
  EXPECT_THAT(value_error([&] { send(World(), TensorDict(), {.dst = 1, .group = group}); }),
              HasSubstr("not registered"));
}

TEST(Peer, WithoutAnyGroupIsAnError) {
  EXPECT_THAT(value_error([] { send(World(), TensorDict(), {.dst = 1}); }),
              HasSubstr("Default process group has not been initialized"));
}

// Every error must come before the first message, so that the ranks can still exchange the good
// tensordict.
void expect_nothing_was_sent(const World& world, int rank) {
  if (rank == 0) {
    send(world, testing::sample(5), {.dst = 1});
  } else {
    auto td = testing::poisoned_sample();
    recv(world, td, {.src = 0});
    EXPECT_TRUE(td.get("a").tensor().equal(at::tensor({5, 6}, at::kLong)));
  }
}

TEST(Leaves, AreAllCheckedBeforeTheFirstMessage) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        for (const auto& bad : {at::eye(2).to_sparse(), at::empty({2}, at::kMeta)}) {
          auto td = testing::sample(1);
          td.set("z", bad);
          EXPECT_THROW(send(world, td, {.dst = 1 - rank}), c10::NotImplementedError);
          EXPECT_THROW(isend(world, td, {.dst = 1 - rank, .consolidated = true}),
                       c10::NotImplementedError);
          EXPECT_THROW(irecv(world, td, {.src = 1 - rank}), c10::NotImplementedError);
        }
        auto expanded = testing::sample(1);
        expanded.set("z", at::zeros({1}).expand({2}));
        EXPECT_THROW(recv(world, expanded, {.src = 1 - rank}), c10::ValueError);
        expect_nothing_was_sent(world, rank);
      },
      testing::plain_options());
}

TEST(Tags, AreAllCheckedBeforeTheFirstMessage) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        auto td = testing::sample(1);
        for (const std::int64_t init_tag : {-1L, 2147483646L}) {
          EXPECT_THROW(send(world, td, {.dst = 1 - rank, .init_tag = init_tag}), c10::ValueError);
          EXPECT_THROW(irecv(world, td, {.src = 1 - rank, .init_tag = init_tag}), c10::ValueError);
        }
        expect_nothing_was_sent(world, rank);
      },
      testing::plain_options());
}

TEST(ConsolidatedReceipt, NeedsAConsolidatedTensordict) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        auto td = testing::sample(1);
        EXPECT_THROW(recv(world, td, {.src = 1 - rank, .consolidated = true}), AttributeError);
        EXPECT_THROW(irecv(world, td, {.src = 1 - rank, .consolidated = true}), AttributeError);
        expect_nothing_was_sent(world, rank);
      },
      testing::plain_options());
}

}  // namespace
}  // namespace tdref
