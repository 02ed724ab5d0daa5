// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/all_reduce.h>
#include <tdref/isend.h>
#include <tdref/memory_map.h>
#include <tdref/persistent.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <filesystem>
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
using namespace std::chrono_literals;

constexpr auto kSum = c10d::ReduceOp::SUM;

TEST(AllReduce, GivesEveryRankTheResultOfEveryOperationOnEveryDtype) {
  for (const int world_size : {2, 3}) {
    run_ranks(world_size, [&](World& world, int rank) {
      for (const auto& what : testing::all_reducible()) {
        auto td = one_leaf("a", testing::operand(what, rank, world_size));
        const auto before = tensor_at(td, "a");
        EXPECT_EQ(all_reduce(world, td, {.op = what.op}), std::nullopt);
        EXPECT_TRUE(testing::same_bits(before, testing::result(what, world_size)))
            << to_string(what.op) << ' ' << what.dtype << " gives\n"
            << before;
      }
    });
  }
}

TEST(AllReduce, DefaultsToTheSum) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 3));
    all_reduce(world, td);
    EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(2, 3)));
  });
}

TEST(AllReduce, LetsIntegersWrap) {
  run_ranks(2, [](World& world, int) {
    auto td = one_leaf("a", at::full({2}, 200, at::kByte));
    all_reduce(world, td);
    EXPECT_TRUE(tensor_at(td, "a").equal(at::full({2}, 144, at::kByte)));
  });
}

TEST(AllReduce, MakesBoolsOfWhatAnotherImplementationAdds) {
  testing::run_ranks_with(
      {{.timeout = 20s}, testing::plain_options(), {.timeout = 20s}}, [](World& world, int rank) {
        for (const bool packed : {false, true}) {
          TensorDict td;
          td.set("a", at::ones({6}, at::kBool));
          td.set("b", at::ones({6}, at::kBool));
          if (rank == 1) {
            const auto both = at::ones({12}, at::kBool);
            for (const auto& bools : packed ? both.split(12) : both.split(6)) {
              world.default_group().all_reduce(bools, kSum).wait();
            }
            continue;
          }
          all_reduce(world,
                     td,
                     {.bucket_bytes = packed ? std::optional<std::int64_t>(100) : std::nullopt});
          EXPECT_TRUE(testing::same_bits(tensor_at(td, "a"), at::ones({6}, at::kBool)));
          EXPECT_TRUE(testing::same_bits(tensor_at(td, "b"), at::ones({6}, at::kBool)));
        }
      });
}

TEST(AllReduce, PairsLeavesByKeyWhateverTheOrderOfInsertion) {
  run_ranks(3, [](World& world, int rank) {
    TensorDict nested({2});
    nested.set("c", ramp(rank + 100, 2));
    TensorDict td({2});
    for (int i = 0; i < 3; ++i) {
      const int which = (i + rank) % 3;
      which == 0 ? td.set("b", ramp(rank + 1, 2))
                 : (which == 1 ? td.set("a", ramp(rank + 10, 2)) : td.set("n", nested));
    }
    all_reduce(world, td);
    EXPECT_TRUE(tensor_at(td, "b").equal(ramp(0, 2) * 3 + 6));
    EXPECT_TRUE(tensor_at(td, "a").equal(ramp(0, 2) * 3 + 33));
    EXPECT_TRUE(td.get(KeyPath{"n", "c"}).tensor().equal(ramp(0, 2) * 3 + 303));
  });
}

TEST(AllReduce, InASubgroupLeavesTheOthersAlone) {
  run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({0, 2});
    auto td = one_leaf("a", ramp(rank + 1, 2));
    if (rank == 1) {
      EXPECT_THROW(all_reduce(world, td, {.group = group}), c10::ValueError);
    } else {
      all_reduce(world, td, {.group = group});
    }
    EXPECT_TRUE(tensor_at(td, "a").equal(rank == 1 ? ramp(2, 2) : ramp(0, 2) * 2 + 4));
  });
}

TEST(AllReduce, InAStandaloneGroupNeedsNoWorld) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto group = open_standalone(store, rank, 2, {.timeout = 20s});
      auto td = one_leaf("a", ramp(rank + 1, 2));
      all_reduce(World(), td, {.group = group});
      EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
      all_reduce(World(), td, {.group = group});  // nobody closes before the other has read
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(AllReduce, WritesIntoLeavesOfEveryMemory) {
  run_ranks(2, [](World& world, int rank) {
    const auto rows = ramp(1, 6).view({3, 2}) + rank;  // its columns are strided
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
    td.set("transposed", transposed);
    for (const auto& bytes : std::vector<std::optional<std::int64_t>>{std::nullopt, 1000, 1}) {
      const auto halves = rank == 0 ? 1.0 : 0.0;  // rank 1 starts again from nothing
      const at::NoGradGuard no_history;
      rows.copy_(ramp(1, 6).view({3, 2}) + rank);
      transposed.copy_((ramp(1, 6) + rank).view({2, 3}).t());
      conjugated.copy_(at::complex(ramp(1, 2), -ramp(rank + 1, 2)));
      learned.copy_(ramp(rank + 1, 2));
      mapped.tensor.copy_(ramp(rank + 1, 2));
      tensor_at(td, "scalar").fill_(1 + halves);
      all_reduce(world, td, {.bucket_bytes = bytes});
      EXPECT_TRUE(rows.equal(
          at::tensor({3.0F, 2.0F + rank, 7.0F, 4.0F + rank, 11.0F, 6.0F + rank}).view({3, 2})))
          << rows;
      EXPECT_TRUE(transposed.equal((ramp(0, 6) * 2 + 3).view({2, 3}).t()));
      EXPECT_TRUE(conjugated.equal(at::complex(ramp(1, 2) * 2, -sum_of_ramps(2, 2))));
      EXPECT_TRUE(learned.equal(sum_of_ramps(2, 2)));
      EXPECT_TRUE(learned.requires_grad());
      EXPECT_TRUE(mapped.tensor.equal(sum_of_ramps(2, 2)));
      EXPECT_TRUE(tensor_at(td, "scalar").equal(at::scalar_tensor(3.0F)));
    }
  });
}

TEST(AllReduce, ReducesWhatTwoLeavesShareOnce) {
  run_ranks(2, [](World& world, int rank) {
    for (const auto& bytes : std::vector<std::optional<std::int64_t>>{std::nullopt, 8, 1000}) {
      const auto tied = ramp(rank + 1, 4);
      TensorDict td;
      td.set("decoder", tied);
      td.set("encoder", tied);
      td.set("half", tied.narrow(0, 2, 2));
      auto works = all_reduce(world, td, {.async_op = true, .bucket_bytes = bytes});
      for (auto work = works->rbegin(); work != works->rend(); ++work) {
        work->wait();
      }
      EXPECT_TRUE(tied.equal(sum_of_ramps(2, 4))) << tied;
    }
  });
}

TEST(AllReduce, TakesALazyStackMemberByMember) {
  run_ranks(2, [](World& world, int rank) {
    const auto first = one_leaf("a", ramp(rank + 1, 2));
    const auto second = one_leaf("b", ramp(rank + 1, 5));
    LazyStackedTensorDict stack({first, second});
    all_reduce(world, stack);
    EXPECT_TRUE(tensor_at(first, "a").equal(sum_of_ramps(2, 2)));
    EXPECT_TRUE(tensor_at(second, "b").equal(sum_of_ramps(2, 5)));
  });
}

TEST(AllReduce, LeavesNonTensorDataAndTheClassAsTheyAre) {
  run_ranks(2, [](World& world, int rank) {
    TensorDict fields;
    fields.set("text", NonTensor{rank == 0 ? "left" : "right"});
    fields.set("a", ramp(rank + 1, 2));
    TensorClass td({"module", "Class"}, fields);
    all_reduce(world, td);
    EXPECT_TRUE(tensor_at(td.contents(), "a").equal(sum_of_ramps(2, 2)));
    EXPECT_EQ(td.contents().get("text").non_tensor()->data, rank == 0 ? "left" : "right");
  });
}

TEST(AllReduce, AddsSparseLeaves) {
  run_ranks(2, [](World& world, int rank) {
    const auto numbers = at::tensor({1.0F, 0.0F, rank + 1.0F, 0.0F});
    const auto sparse = numbers.to_sparse().requires_grad_(true);
    TensorDict td;
    td.set("s", sparse);
    td.set("z", ramp(rank + 1, 2));
    all_reduce(world, td, {.bucket_bytes = 1000});
    EXPECT_TRUE(sparse.detach().to_dense().equal(at::tensor({2.0F, 0.0F, 3.0F, 0.0F})));
    EXPECT_TRUE(tensor_at(td, "z").equal(sum_of_ramps(2, 2)));
  });
}

TEST(AllReduce, SendsNothingOfAnEmptyTensordict) {
  run_ranks(2, [](World& world, int) {
    TensorDict td;
    td.set("text", NonTensor{"not a leaf"});
    td.set("n", TensorDict());
    EXPECT_EQ(all_reduce(world, td), std::nullopt);
    const auto works = all_reduce(world, td, {.async_op = true, .bucket_bytes = 8});
    ASSERT_TRUE(works.has_value());
    EXPECT_THAT(*works, SizeIs(0));
  });
}

TEST(AllReduce, OfBucketsMakesOneReductionForEach) {
  run_ranks(3, [](World& world, int rank) {
    const std::vector<std::pair<std::int64_t, std::size_t>> sizes{
        {1, 4}, {8, 4}, {16, 3}, {39, 3}, {40, 2}, {1000, 2}};
    for (const auto& [bytes, count] : sizes) {
      auto td = leaves(rank);
      auto works = all_reduce(world, td, {.async_op = true, .bucket_bytes = bytes});
      ASSERT_TRUE(works.has_value());
      EXPECT_THAT(*works, SizeIs(count)) << bytes;
      for (auto& work : *works) {
        work.wait();
        work.wait();
      }
      expect_sums(td, 3);
      td = leaves(rank);
      all_reduce(world, td, {.bucket_bytes = bytes});
      expect_sums(td, 3);
    }
  });
}

// With three ranks the order of the sum depends on the place within the message.
TEST(AllReduce, OfTwoRanksHasTheSameBitsPackedOrNot) {
  run_ranks(2, [](World& world, int rank) {
    const auto thirds = [&] {
      TensorDict td;
      for (const char* key : {"a", "b", "c"}) {
        td.set(key, (ramp(1, 50) + rank) / 3);
      }
      return td;
    };
    auto alone = thirds();
    auto packed = thirds();
    all_reduce(world, alone);
    all_reduce(world, packed, {.bucket_bytes = 1000});
    EXPECT_TRUE(tensor_at(alone, "b").equal(ramp(1, 50) / 3 + (ramp(1, 50) + 1) / 3));
    EXPECT_TRUE(testing::same(alone, packed));
  });
}

TEST(AllReduce, GivesAllRanksTheSameBits) {
  run_ranks(3, [](World& world, int rank) {
    auto td = one_leaf("a", (ramp(1, 50) + rank) / 7);
    all_reduce(world, td);
    const auto all = world.default_group().all_gather(tensor_at(td, "a"));
    EXPECT_TRUE(all[0].equal(all[1]));
    EXPECT_TRUE(all[0].equal(all[2]));
  });
}

TEST(AllReduce, AtTheSameTimeDoNotMix) {
  run_ranks(3, [](World& world, int rank) {
    std::vector<TensorDict> tds;
    std::vector<Works> works;
    for (int i = 0; i < 8; ++i) {
      tds.push_back(leaves(rank));
      tds.back().set("own", at::full({3}, 100.0F * i + rank));
      works.push_back(*all_reduce(
          world,
          tds.back(),
          {.async_op = true,
           .bucket_bytes = i % 2 == 0 ? std::nullopt : std::optional<std::int64_t>(16)}));
    }
    for (auto of_one = works.rbegin(); of_one != works.rend(); ++of_one) {
      for (auto work = of_one->rbegin(); work != of_one->rend(); ++work) {
        work->wait();
      }
    }
    for (std::size_t i = 0; i < tds.size(); ++i) {
      expect_sums(tds[i], 3);
      EXPECT_TRUE(
          tensor_at(tds[i], "own").equal(at::full({3}, 300.0F * static_cast<float>(i) + 3)));
    }
  });
}

TEST(AllReduce, WithAsyncOpDoesNotWaitForTheOthers) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 2));
    auto message = one_leaf("m", ramp(rank + 1, 2));
    if (rank == 1) {
      recv(world, message, {.src = 0});
    }
    auto works = all_reduce(world, td, {.async_op = true});
    if (rank == 0) {
      send(world, message, {.dst = 1});
    }
    works->front().wait();
    EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
    EXPECT_TRUE(tensor_at(message, "m").equal(ramp(1, 2)));
  });
}

TEST(AllReduce, TakesPartThoughItsWorksAreDropped) {
  run_ranks(2, [](World& world, int rank) {
    auto td = one_leaf("a", ramp(rank + 1, 2));
    if (rank == 0) {
      all_reduce(world, td, {.async_op = true});
    } else {
      all_reduce(world, td);
      EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(2, 2)));
    }
    auto next = one_leaf("b", ramp(rank + 1, 3));
    all_reduce(world, next);
    EXPECT_TRUE(tensor_at(next, "b").equal(sum_of_ramps(2, 3)));
  });
}

/// A call that one rank finds wrong; the other one's is right.
struct Refused {
  const char* name;
  std::function<AnyTensorDict()> td;
  AllReduceOptions options;
  const char* reason;
};

AnyTensorDict persistent() {
  const auto file = ::testing::TempDir() + "tdref_all_reduce.h5";
  auto td = PersistentTensorDict::from_dict(one_leaf("a", ramp(1, 2)), file);
  std::filesystem::remove(file);  // it was read when it was opened
  return td;
}

const std::vector<Refused>& refused() {
  static const std::vector<Refused> all{
      {"Expanded",
       [] { return one_leaf("a", at::ones({1}).expand({2})); },
       {},
       "leaf 'a' cannot be reduced in place: its elements share memory"},
      {"Dtype",
       [] { return one_leaf("a", at::ones({2}, at::kShort)); },
       {},
       "leaf 'a' cannot be reduced with SUM: its dtype is int16"},
      {"Operation",
       [] { return one_leaf("a", ramp(1, 2)); },
       {.op = c10d::ReduceOp::BXOR},
       "leaf 'a' cannot be reduced with BXOR: its dtype is float32; allowed for float32 are SUM, "
       "AVG"},
      {"Meta",
       [] { return one_leaf("a", at::ones({2}, at::kMeta)); },
       {},
       "leaf 'a' cannot be reduced: it has layout Strided, device meta"},
      {"Jagged",
       [] {
         TensorDict td;
         td.set("a", Jagged{.values = at::zeros({3}), .offsets = at::tensor({0, 3})});
         return td;
       },
       {},
       "leaf 'a' cannot be reduced: it is jagged"},
      {"Persistent", persistent, {}, "a persistent tensordict cannot be reduced"},
      {"BucketBytes",
       [] { return one_leaf("a", ramp(1, 2)); },
       {.bucket_bytes = 0},
       "bucket_bytes must be a positive number of bytes, got 0"},
  };
  return all;
}

class AllReduceRefused : public ::testing::TestWithParam<Refused> {};

INSTANTIATE_TEST_SUITE_P(Calls,
                         AllReduceRefused,
                         ::testing::ValuesIn(refused()),
                         [](const auto& test) { return test.param.name; });

TEST_P(AllReduceRefused, OnOneRankRaisesOnAllAndSendsNothing) {
  const auto& param = GetParam();
  run_ranks(3, [&](World& world, int rank) {
    auto good = one_leaf("a", ramp(1, 2));
    auto td = rank == 1 ? param.td() : AnyTensorDict(good);
    const auto call = [&] {
      all_reduce(world, *td, rank == 1 ? param.options : AllReduceOptions());
    };
    EXPECT_THAT(call,
                ThrowsMessage<c10::Error>(
                    AllOf(HasSubstr(param.reason), HasSubstr(rank == 1 ? "" : "rank 1 refused"))));
    EXPECT_TRUE(tensor_at(good, "a").equal(ramp(1, 2)));
    auto next = one_leaf("b", ramp(rank + 1, 3));
    all_reduce(world, next);
    EXPECT_TRUE(tensor_at(next, "b").equal(sum_of_ramps(3, 3)));
  });
}

/// What rank 1 does where the others reduce {a: float32[2]} with SUM.
struct Differs {
  const char* name;
  std::function<AnyTensorDict()> td;
  AllReduceOptions options;
  const char* difference;
};

const std::vector<Differs>& differing() {
  static const std::vector<Differs> all{
      {"Key", [] { return one_leaf("b", ramp(1, 2)); }, {}, "float32[2] 'b'"},
      {"Shape", [] { return one_leaf("a", ramp(1, 3)); }, {}, "float32[3] 'a'"},
      {"Dtype", [] { return one_leaf("a", at::ones({2}, at::kInt)); }, {}, "int32[2] 'a'"},
      {"Leaves", [] { return TensorDict(); }, {}, "nothing"},
      {"Operation",
       [] { return one_leaf("a", ramp(1, 2)); },
       {.op = c10d::ReduceOp::MAX},
       "all_reduce with MAX"},
      {"Layout",
       [] { return one_leaf("a", at::ones({2}).to_sparse()); },
       {},
       "float32[2] 'a', sparse"},
      {"LazyStack",
       [] {
         return LazyStackedTensorDict(
             {one_leaf("a", at::scalar_tensor(1.0F)), one_leaf("a", at::scalar_tensor(1.0F))});
       },
       {},
       "float32[] '0/a'"},
  };
  return all;
}

class AllReduceDiffers : public ::testing::TestWithParam<Differs> {};

INSTANTIATE_TEST_SUITE_P(Calls,
                         AllReduceDiffers,
                         ::testing::ValuesIn(differing()),
                         [](const auto& test) { return test.param.name; });

TEST_P(AllReduceDiffers, RaisesOnAllRanksAndSendsNothing) {
  const auto& param = GetParam();
  run_ranks(3, [&](World& world, int rank) {
    auto good = one_leaf("a", ramp(1, 2));
    auto td = rank == 1 ? param.td() : AnyTensorDict(good);
    const auto call = [&] {
      all_reduce(world, *td, rank == 1 ? param.options : AllReduceOptions());
    };
    EXPECT_THAT(call, ThrowsMessage<c10::ValueError>(HasSubstr(param.difference)));
    EXPECT_TRUE(tensor_at(good, "a").equal(ramp(1, 2)));
    auto next = one_leaf("b", ramp(rank + 1, 3));
    all_reduce(world, next);
    EXPECT_TRUE(tensor_at(next, "b").equal(sum_of_ramps(3, 3)));
  });
}

TEST(AllReduce, OfBucketsThatDifferRaisesOnAllRanks) {
  run_ranks(2, [](World& world, int rank) {
    auto td = leaves(rank);
    EXPECT_THAT(
        [&] { all_reduce(world, td, {.bucket_bytes = rank == 0 ? 16 : 15}); },
        ThrowsMessage<c10::ValueError>(AllOf(HasSubstr("float32[2] 'a', in bucket 1 on rank 0"),
                                             HasSubstr("float32[2] 'a' on rank 1"))));
  });
}

TEST(AllReduce, WithAsyncOpReportsTheOthersRefusalWhenWaitedFor) {
  run_ranks(2, [](World& world, int rank) {
    if (rank == 1) {
      auto td = one_leaf("a", at::ones({2}, at::kShort));
      EXPECT_THROW(all_reduce(world, td, {.async_op = true}), c10::NotImplementedError);
      return;
    }
    auto td = one_leaf("a", ramp(1, 2));
    auto works = all_reduce(world, td, {.async_op = true});
    EXPECT_THAT([&] { works->front().wait(); },
                ThrowsMessage<c10::ValueError>(HasSubstr("rank 1 refused")));
  });
}

TEST(AllReduce, ComparesNothingWhereOneRankDoesNot) {
  testing::run_ranks_with({testing::plain_options(), {.timeout = 20s}, {.timeout = 20s}},
                          [](World& world, int rank) {
                            auto td = leaves(rank);
                            all_reduce(world, td, {.bucket_bytes = 16});
                            expect_sums(td, 3);
                          });
}

TEST(AllReduce, WaitsForTheOthersAtMostTheTimeout) {
  run_ranks(2,
            [](World& world, int rank) {
              auto td = leaves(rank);
              if (rank == 0) {
                EXPECT_THROW(all_reduce(world, td), c10::Error);
              }
            },
            {.timeout = 300ms, .agree_on_structure = false});
}

}  // namespace
}  // namespace tdref
