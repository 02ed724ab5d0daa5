// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/memory_map.h>
#include <tdref/recv.h>
#include <tdref/reduce.h>
#include <tdref/send.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "mismatches.h"
#include "operands.h"
#include "plan/reducible.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::AllOf;
using testing::expect_sums;
using ::testing::HasSubstr;
using testing::leaves;
using testing::one_leaf;
using testing::ramp;
using testing::run_ranks;
using ::testing::SizeIs;
using testing::sum_of_ramps;
using testing::tensor_at;
using ::testing::ThrowsMessage;

TEST(Reduce, GivesDstTheResultOfEveryOperationOnEveryDtype) {
  for (const int world_size : {2, 3}) {
    run_ranks(world_size, [&](World& world, int rank) {
      int dst = 0;
      for (const auto& what : testing::all_reducible()) {
        dst = (dst + 1) % world_size;
        auto td = one_leaf("a", testing::operand(what, rank, world_size));
        const auto before = tensor_at(td, "a");
        EXPECT_EQ(reduce(world, td, {.dst = dst, .op = what.op}), std::nullopt);
        if (rank == dst) {
          EXPECT_TRUE(testing::same_bits(before, testing::result(what, world_size)))
              << to_string(what.op) << ' ' << what.dtype << " gives\n"
              << before;
        }
      }
    });
  }
}

TEST(Reduce, GivesTheResultToEachDstInTurn) {
  run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      auto td = one_leaf("a", ramp(rank + 1, 4));
      reduce(world, td, {.dst = dst});
      if (rank == dst) {
        EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(3, 4)));
      }
    }
  });
}

TEST(Reduce, InASubgroupTakesDstAsAGlobalRank) {
  run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    for (const int dst : {1, 2}) {
      auto td = one_leaf("a", ramp(rank + 1, 2));
      if (rank == 0) {
        EXPECT_THROW(reduce(world, td, {.dst = dst, .group = group}), c10::ValueError);
        EXPECT_TRUE(tensor_at(td, "a").equal(ramp(1, 2)));
        continue;
      }
      reduce(world, td, {.dst = dst, .group = group});
      if (rank == dst) {
        EXPECT_TRUE(tensor_at(td, "a").equal(ramp(0, 2) * 2 + 5));
      }
      EXPECT_THROW(reduce(world, td, {.dst = 0, .group = group}), c10::ValueError);
    }
  });
}

TEST(Reduce, PairsLeavesByKeyWhateverTheOrderOfInsertion) {
  run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    td.set(rank == 0 ? "a" : "b", rank == 0 ? ramp(1, 2) : ramp(20, 2));
    td.set(rank == 0 ? "b" : "a", rank == 0 ? ramp(10, 2) : ramp(2, 2));
    reduce(world, td, {.dst = 1});
    if (rank == 1) {
      EXPECT_TRUE(tensor_at(td, "a").equal(ramp(0, 2) * 2 + 3));
      EXPECT_TRUE(tensor_at(td, "b").equal(ramp(0, 2) * 2 + 30));
    }
  });
}

// {n: {x: float32[2]}, a: float32[2, 3]}, batch size [2]
TensorDict member(int first) {
  TensorDict nested({2});
  nested.set("x", ramp(first + 10, 2));
  TensorDict td({2});
  td.set("n", nested);
  td.set("a", ramp(first, 6).view({2, 3}));
  return td;
}

void expect_member(const TensorDictBase& td, double factor, double more) {
  const auto& items = *td.as<TensorDict>();
  EXPECT_TRUE(tensor_at(items, "a").equal(((ramp(0, 6) * factor) + more).view({2, 3})));
  EXPECT_TRUE(items.get(KeyPath{"n", "x"}).tensor().equal(((ramp(0, 2) + 10) * factor) + more));
}

struct Waits {
  const char* name;
  ReduceOptions options;
};

class ReduceLazyStack : public ::testing::TestWithParam<Waits> {};

INSTANTIATE_TEST_SUITE_P(
    Ways,
    ReduceLazyStack,
    ::testing::Values(Waits{"OneByOne", {}},
                      Waits{"Async", {.async_op = true}},
                      Waits{"Returned", {.async_op = true, .return_premature = true}},
                      Waits{"Packed", {.bucket_bytes = 1000}},
                      Waits{"PackedAndReturned",
                            {.async_op = true, .return_premature = true, .bucket_bytes = 1000}}),
    [](const auto& test) { return test.param.name; });

TEST_P(ReduceLazyStack, PairsWithADenseTensordictAndIsWrittenBack) {
  run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      for (const std::int64_t dim : {0, 1}) {
        LazyStackedTensorDict lazy({member(rank + 1), member(rank + 101)}, dim);
        TensorDict dense_nested(lazy.batch_size());
        dense_nested.set("x", at::stack({ramp(rank + 11, 2), ramp(rank + 111, 2)}, dim));
        TensorDict dense(lazy.batch_size());
        dense.set(
            "a",
            at::stack({ramp(rank + 1, 6).view({2, 3}), ramp(rank + 101, 6).view({2, 3})}, dim));
        dense.set("n", dense_nested);
        auto options = GetParam().options;
        options.dst = dst;
        auto works = rank == 1 ? reduce(world, dense, options) : reduce(world, lazy, options);
        EXPECT_EQ(works.has_value(), options.return_premature);
        if (works.has_value()) {
          EXPECT_THAT(*works, SizeIs(options.bucket_bytes.has_value() ? 1 : 2));
          for (auto& work : *works) {
            work.wait();
          }
        }
        if (rank == dst && rank != 1) {
          expect_member(*lazy.members()[0], 3, 6);
          expect_member(*lazy.members()[1], 3, 306);
        } else if (rank == dst) {
          EXPECT_TRUE(
              tensor_at(dense, "a").select(dim, 0).equal((ramp(0, 6) * 3 + 6).view({2, 3})));
          EXPECT_TRUE(
              tensor_at(dense, "a").select(dim, 1).equal((ramp(0, 6) * 3 + 306).view({2, 3})));
        } else if (rank != 1) {
          expect_member(*lazy.members()[0], 1, rank + 1);
        }
      }
    }
  });
}

TEST(Reduce, OfALazyStackWithAMemberThatCannotBeWrittenRaisesOnDstAfterAllReductions) {
  for (const bool returned : {false, true}) {
    run_ranks(2, [&](World& world, int rank) {
      auto first = one_leaf("a", ramp(rank + 1, 2));
      first.set("b", ramp(rank + 1, 2));
      auto second = one_leaf("a", at::full({1}, rank + 1.0F).expand({2}));
      second.set("b", ramp(rank + 1, 2));
      LazyStackedTensorDict td({first, second});
      const ReduceOptions options{.dst = 0, .async_op = returned, .return_premature = returned};
      const auto call = [&] {
        auto works = reduce(world, td, options);
        if (works.has_value()) {
          works->back().wait();
          works->front().wait();
        }
      };
      if (rank == 0) {
        EXPECT_THAT(call, ThrowsMessage<c10::Error>(HasSubstr("the result for leaf 'a' cannot")));
        EXPECT_TRUE(tensor_at(second, "b").equal(sum_of_ramps(2, 2)));
        EXPECT_TRUE(tensor_at(first, "a").equal(sum_of_ramps(2, 2)));
      } else {
        call();
      }
      auto next = one_leaf("c", ramp(rank + 1, 3));
      reduce(world, next, {.dst = 0});
      EXPECT_TRUE(rank != 0 || tensor_at(next, "c").equal(sum_of_ramps(2, 3)));
    });
  }
}

TEST(Reduce, RefusesALazyStackWithoutStackedLeavesOnAllRanks) {
  run_ranks(2, [](World& world, int rank) {
    LazyStackedTensorDict good({one_leaf("a", ramp(1, 2)), one_leaf("a", ramp(1, 2))});
    LazyStackedTensorDict ragged({one_leaf("a", ramp(1, 2)), one_leaf("a", ramp(1, 3))});
    EXPECT_THAT([&] { reduce(world, rank == 0 ? good : ragged, {.dst = 0}); },
                ThrowsMessage<c10::Error>(HasSubstr("member 1 has shape [3]")));
  });
}

TEST(Reduce, WritesIntoLeavesOfEveryMemory) {
  run_ranks(2, [](World& world, int rank) {
    for (const auto& bytes : std::vector<std::optional<std::int64_t>>{std::nullopt, 1000, 1}) {
      const auto rows = (ramp(1, 6) + rank).view({3, 2});  // its columns are strided
      const auto transposed = (ramp(1, 6) + rank).view({2, 3}).t();
      const auto conjugated = at::complex(ramp(1, 2), ramp(rank + 1, 2)).conj();
      const auto learned = ramp(rank + 1, 2).requires_grad_(true);
      const auto mapped = memory_map(ramp(rank + 1, 2));
      TensorDict td;
      td.set("column", rows.select(1, 0));
      td.set("conjugated", conjugated);
      td.set("learned", learned);
      td.set("mapped", mapped);
      td.set("none", at::zeros({0, 3}));
      td.set("scalar", at::scalar_tensor(rank + 1.0F));
      td.set("text", NonTensor{rank == 0 ? "left" : "right"});
      td.set("transposed", transposed);
      reduce(world, td, {.dst = 1, .bucket_bytes = bytes});
      EXPECT_EQ(td.get("text").non_tensor()->data, rank == 0 ? "left" : "right");
      if (rank == 0) {
        EXPECT_TRUE(rows.equal(ramp(1, 6).view({3, 2})));  // a copy was reduced
        continue;
      }
      EXPECT_TRUE(rows.equal(at::tensor({3.0F, 3.0F, 7.0F, 5.0F, 11.0F, 7.0F}).view({3, 2})));
      EXPECT_TRUE(transposed.equal((ramp(0, 6) * 2 + 3).view({2, 3}).t()));
      EXPECT_TRUE(conjugated.equal(at::complex(ramp(1, 2) * 2, -sum_of_ramps(2, 2))));
      EXPECT_TRUE(learned.equal(sum_of_ramps(2, 2)));
      EXPECT_TRUE(learned.requires_grad());
      EXPECT_TRUE(mapped.tensor.equal(sum_of_ramps(2, 2)));
      EXPECT_TRUE(tensor_at(td, "scalar").equal(at::scalar_tensor(3.0F)));
    }
  });
}

TEST(Reduce, OfBucketsCopiesBackOnDstAlone) {
  run_ranks(3, [](World& world, int rank) {
    const std::vector<std::pair<std::int64_t, std::size_t>> sizes{
        {1, 4}, {16, 3}, {40, 2}, {1000, 2}};
    for (const auto& [bytes, count] : sizes) {
      auto td = leaves(rank);
      auto works = reduce(
          world, td, {.dst = 2, .async_op = true, .return_premature = true, .bucket_bytes = bytes});
      ASSERT_TRUE(works.has_value());
      EXPECT_THAT(*works, SizeIs(count)) << bytes;
      for (auto& work : *works) {
        work.wait();
      }
      if (rank == 2) {
        expect_sums(td, 3);
      } else if (bytes == 1000) {
        EXPECT_TRUE(tensor_at(td, "b").equal(ramp(rank + 1, 2)));
      }
    }
  });
}

TEST(Reduce, ReturnsNothingUnlessBothAsyncOpAndReturnPrematureAreGiven) {
  run_ranks(2, [](World& world, int rank) {
    for (const auto& options : {ReduceOptions{.dst = 0, .async_op = true},
                                ReduceOptions{.dst = 0, .return_premature = true}}) {
      auto td = leaves(rank);
      EXPECT_EQ(reduce(world, td, options), std::nullopt);
      if (rank == 0) {
        expect_sums(td, 2);
      }
    }
  });
}

TEST(Reduce, SendsNothingOfAnEmptyTensordict) {
  run_ranks(2, [](World& world, int) {
    TensorDict td;
    EXPECT_EQ(reduce(world, td, {.dst = 0}), std::nullopt);
    const auto works = reduce(world, td, {.dst = 0, .async_op = true, .return_premature = true});
    ASSERT_TRUE(works.has_value());
    EXPECT_THAT(*works, SizeIs(0));
  });
}

TEST(Reduce, AtTheSameTimeDoNotMix) {
  run_ranks(3, [](World& world, int rank) {
    std::vector<TensorDict> tds;
    Works works;
    for (int dst = 0; dst < 3; ++dst) {
      tds.push_back(leaves(rank));
      auto more =
          *reduce(world, tds.back(), {.dst = dst, .async_op = true, .return_premature = true});
      works.insert(works.begin(), more.begin(), more.end());
    }
    for (auto& work : works) {
      work.wait();
    }
    expect_sums(tds[static_cast<std::size_t>(rank)], 3);
  });
}

TEST(Reduce, WithReturnPrematureDoesNotWaitForTheOthers) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 2));
    auto message = one_leaf("m", ramp(rank + 1, 2));
    if (rank == 1) {
      recv(world, message, {.src = 0});
    }
    auto works = reduce(world, td, {.dst = 0, .async_op = true, .return_premature = true});
    if (rank == 0) {
      send(world, message, {.dst = 1});
    }
    works->front().wait();
    EXPECT_TRUE(rank != 0 || tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
  });
}

TEST(Reduce, TakesPartThoughItsWorksAreDropped) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 2));
    if (rank == 0) {
      reduce(world, td, {.dst = 1, .async_op = true, .return_premature = true});
    } else {
      reduce(world, td, {.dst = 1});
      EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
    }
    auto next = one_leaf("b", ramp(rank + 1, 3));
    reduce(world, next, {.dst = 0});
    EXPECT_TRUE(rank != 0 || tensor_at(next, "b").equal(sum_of_ramps(2, 3)));
  });
}

TEST(Reduce, WithAnotherDstRaisesOnAllRanks) {
  run_ranks(3, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(1, 2));
    EXPECT_THAT([&] { reduce(world, td, {.dst = rank == 1 ? 2 : 0}); },
                ThrowsMessage<c10::ValueError>(
                    AllOf(HasSubstr("reduce with SUM on group rank 0 on rank 0"),
                          HasSubstr("reduce with SUM on group rank 2 on rank 1"))));
    EXPECT_TRUE(tensor_at(td, "a").equal(ramp(1, 2)));
  });
}

TEST(Reduce, ToNobodyOnOneRankRaisesOnAllRanks) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 2));
    EXPECT_THAT(
        [&] { reduce(world, td, {.dst = rank == 1 ? 5 : 0}); },
        ThrowsMessage<c10::ValueError>(HasSubstr("Global rank 5 is not part of the group")));
    reduce(world, td, {.dst = 0});
    EXPECT_TRUE(rank != 0 || tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
  });
}

TEST(Reduce, RefusesSparseLeavesOnAllRanks) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", rank == 1 ? at::ones({2}).to_sparse() : at::ones({2}));
    EXPECT_THAT(
        [&] { reduce(world, td, {.dst = 0}); },
        ThrowsMessage<c10::Error>(HasSubstr("leaf 'a' cannot be reduced: it has layout Sparse")));
  });
}

TEST(Reduce, NeedsAGroupWithGlobalRanks) {
  const auto group = open_standalone(c10::make_intrusive<c10d::HashStore>(), 0, 1);
  auto td = one_leaf("a", ramp(1, 2));
  EXPECT_THROW(reduce(World(), td, {.dst = 0, .group = group}), c10::ValueError);
  EXPECT_THROW(reduce(World(), td, {.dst = 0}), c10::ValueError);
}

TEST(Reduce, OfOneRankIsItsOwnTensordict) {
  run_ranks(1, [](World& world, int) {
    auto td = leaves(0);
    reduce(world, td, {.dst = 0, .op = c10d::ReduceOp::SUM, .bucket_bytes = 16});
    expect_sums(td, 1);
  });
}

TEST(Reduce, ComparesNothingWhereOneRankDoesNot) {
  testing::run_ranks_with({testing::plain_options(), {}, {}}, [](World& world, int rank) {
    auto td = leaves(rank);
    reduce(world, td, {.dst = 1, .bucket_bytes = 16});
    if (rank == 1) {
      expect_sums(td, 3);
    }
  });
}

}  // namespace
}  // namespace tdref
