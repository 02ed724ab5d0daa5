// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/gather_and_stack.h>
#include <tdref/memory_map.h>
#include <tdref/pickle.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "ops/gather_wire.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

// {a: float32[2]}, of 10 * rank + 1 and 10 * rank + 2
TensorDict row_of(int rank) {
  TensorDict td;
  td.set("a", testing::ramp(10 * rank + 1, 2));
  return td;
}

TensorDict target(std::int64_t rows) {
  TensorDict td({rows});
  td.set("a", at::full({rows, 2}, -1, at::kFloat));
  return td;
}

class GatherAndStack : public ::testing::TestWithParam<const char*> {
 protected:
  void run(int world_size, const std::function<void(World&, int)>& program) const {
    testing::run_ranks(world_size, program, {.backend = GetParam(), .timeout = 20s});
  }
};

INSTANTIATE_TEST_SUITE_P(Backends,
                         GatherAndStack,
                         ::testing::Values("gloo", "cpu:gloo", "undefined"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name == "cpu:gloo" ? "cpu_gloo" : name;
                         });

TEST_P(GatherAndStack, PutsTheOtherRanksInAscendingOrderOnEachDstInTurn) {
  run(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      auto td = rank == dst ? target(2) : row_of(rank);
      const auto before = td.get("a").tensor();
      EXPECT_EQ(gather_and_stack(world, td, {.dst = dst}), rank == dst ? &td : nullptr);
      if (rank == dst) {
        const int first = dst == 0 ? 1 : 0;
        const int second = dst == 2 ? 1 : 2;
        EXPECT_TRUE(before.equal(
            at::stack({row_of(first).get("a").tensor(), row_of(second).get("a").tensor()})));
      } else {
        EXPECT_TRUE(before.equal(row_of(rank).get("a").tensor()));
      }
    }
  });
}

TEST_P(GatherAndStack, InASubgroupTakesDstAsAGlobalRank) {
  run(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    if (rank == 0) {
      auto td = row_of(0);
      EXPECT_THROW(gather_and_stack(world, td, {.dst = 2, .group = group}), c10::ValueError);
      return;
    }
    for (const int dst : {1, 2}) {
      auto td = rank == dst ? target(1) : row_of(rank);
      gather_and_stack(world, td, {.dst = dst, .group = group});
      if (rank == dst) {
        EXPECT_TRUE(td.get("a").tensor()[0].equal(row_of(3 - dst).get("a").tensor()));
      }
    }
    auto td = row_of(rank);
    EXPECT_THROW(gather_and_stack(world, td, {.dst = 0, .group = group}), c10::ValueError);
  });
}

TEST_P(GatherAndStack, CarriesNestedAndNonTensorDataAndRareLeaves) {
  run(2, [](World& world, int rank) {
    auto row = testing::sample(3);
    row.set("s", NonTensor{"text"});
    row.set("f8", at::ones({2}).to(at::kFloat8_e4m3fn));
    row.set("u16", at::ones({2}).to(at::kUInt16));
    row.set("grad", at::ones({2}).set_requires_grad(true));
    if (rank == 1) {
      gather_and_stack(world, row, {.dst = 0});
      return;
    }
    TensorDict td({1, 2});
    gather_and_stack(world, td, {.dst = 0});
    EXPECT_THAT(td.get("n").nested()->batch_size(), ElementsAre(1, 2));
    EXPECT_TRUE(td.get("b").tensor()[0].equal(row.get("b").tensor()));
    EXPECT_EQ(*td.get("s").non_tensor(), (NonTensor{Value::List{"text"}, true}));
    EXPECT_EQ(td.get("f8").tensor().scalar_type(), at::kFloat8_e4m3fn);
    EXPECT_TRUE(td.get("f8").tensor().to(at::kFloat).equal(at::ones({1, 2})));
    EXPECT_EQ(td.get("u16").tensor().scalar_type(), at::kUInt16);
    EXPECT_TRUE(td.get("u16").tensor().to(at::kFloat).equal(at::ones({1, 2})));
    EXPECT_TRUE(td.get("grad").tensor().equal(at::ones({1, 2})));
  });
}

// What only dst finds wrong is found after the messages: the other rank returns, and the group
// still works.
TEST_P(GatherAndStack, OnDstAloneFailsAfterTheMessages) {
  run(2, [](World& world, int rank) {
    TensorDict other_shape({1});
    other_shape.set("a", at::full({1, 3}, -1, at::kFloat));
    TensorDict other_kind({1});
    other_kind.set("a", NonTensor{1});
    TensorDict locked({1});
    locked.lock();
    for (auto td : {target(2), TensorDict(), other_shape, other_kind, locked}) {
      if (rank == 0) {
        EXPECT_THROW(gather_and_stack(world, td, {.dst = 0}), c10::Error);
      } else {
        auto row = row_of(1);
        EXPECT_EQ(gather_and_stack(world, row, {.dst = 0}), nullptr);
      }
    }
    auto td = rank == 0 ? target(1) : row_of(1);
    gather_and_stack(world, td, {.dst = 0});
    EXPECT_EQ(td.get("a").tensor().flatten()[0].item<float>(), 11);
  });
}

LazyStackedTensorDict lazy_pair(const TensorDict& first, const TensorDict& second) {
  return LazyStackedTensorDict({first, second});
}

TEST_P(GatherAndStack, WritesLazyRowsIntoADenseTensordict) {
  run(3, [](World& world, int rank) {
    auto row = lazy_pair(row_of(rank), row_of(10 + rank));
    if (rank != 0) {
      EXPECT_EQ(gather_and_stack(world, row, {.dst = 0}), nullptr);
      return;
    }
    TensorDict td({2, 2});
    td.set("a", at::full({2, 2, 2}, -1, at::kFloat));
    const auto before = td.get("a").tensor();
    EXPECT_EQ(gather_and_stack(world, td, {.dst = 0}), &td);
    EXPECT_TRUE(before.equal(
        at::tensor({11., 12., 111., 112., 21., 22., 121., 122.}, at::kFloat).view({2, 2, 2})));
  });
}

TEST_P(GatherAndStack, WritesLazyRowsIntoALazyStackOfLazyStacks) {
  run(3, [](World& world, int rank) {
    TensorDict longer;
    longer.set("a", testing::ramp(rank, 3));
    auto row = lazy_pair(row_of(rank), longer);
    if (rank != 0) {
      gather_and_stack(world, row, {.dst = 0});
      return;
    }
    TensorDict short_member;
    short_member.set("a", at::full({2}, -1, at::kFloat));
    TensorDict long_member;
    long_member.set("a", at::full({3}, -1, at::kFloat));
    std::vector<at::Tensor> targets;
    std::vector<AnyTensorDict> rows;
    for (int i = 0; i < 2; ++i) {
      auto a = at::full({2}, -1, at::kFloat);
      auto b = at::full({3}, -1, at::kFloat);
      short_member.set("a", a);
      long_member.set("a", b);
      rows.push_back(lazy_pair(short_member, long_member));
      targets.insert(targets.end(), {a, b});
    }
    LazyStackedTensorDict td(rows);
    EXPECT_EQ(gather_and_stack(world, td, {.dst = 0}), &td);
    EXPECT_TRUE(targets[0].equal(testing::ramp(11, 2)));
    EXPECT_TRUE(targets[1].equal(testing::ramp(1, 3)));
    EXPECT_TRUE(targets[2].equal(testing::ramp(21, 2)));
    EXPECT_TRUE(targets[3].equal(testing::ramp(2, 3)));
  });
}

TEST_P(GatherAndStack, WritesPlainRowsIntoTheMembersOfALazyStack) {
  run(3, [](World& world, int rank) {
    auto row = row_of(rank);
    if (rank != 1) {
      gather_and_stack(world, row, {.dst = 1});
      return;
    }
    const auto first = row_of(7);
    const auto second = row_of(8);
    auto td = lazy_pair(first, second);
    gather_and_stack(world, td, {.dst = 1});
    EXPECT_TRUE(first.get("a").tensor().equal(row_of(0).get("a").tensor()));
    EXPECT_TRUE(second.get("a").tensor().equal(row_of(2).get("a").tensor()));
  });
}

TEST_P(GatherAndStack, TakesRowsOfAnyClassAndRefusesJaggedOnes) {
  run(2, [](World& world, int rank) {
    TensorDict row;
    row.set("a", Leaf{testing::ramp(1, 2), {"my.module", "MyTensor"}});
    TensorDict jagged({2});
    jagged.set("j", Jagged{.values = testing::ramp(0, 4), .offsets = at::tensor({0, 1, 4})});
    if (rank == 1) {
      gather_and_stack(world, row, {.dst = 0});
      EXPECT_EQ(gather_and_stack(world, jagged, {.dst = 0}), nullptr);
      return;
    }
    auto td = target(1);
    gather_and_stack(world, td, {.dst = 0});
    EXPECT_TRUE(td.get("a").tensor()[0].equal(testing::ramp(1, 2)));
    TensorDict other({1, 2});
    EXPECT_THROW(gather_and_stack(world, other, {.dst = 0}), c10::Error);
  });
}

TEST_P(GatherAndStack, WithRowsThatDifferWritesNothing) {
  run(3, [](World& world, int rank) {
    auto td = rank == 0 ? target(2) : row_of(rank);
    if (rank == 2) {
      td.set("extra", at::zeros({1}));
    }
    if (rank == 0) {
      EXPECT_THROW(gather_and_stack(world, td, {.dst = 0}), c10::Error);
      EXPECT_TRUE(td.get("a").tensor().equal(target(2).get("a").tensor()));
    } else {
      EXPECT_EQ(gather_and_stack(world, td, {.dst = 0}), nullptr);
    }
  });
}

TEST_P(GatherAndStack, OfARankThatCannotEncodeItsTensordictLetsNobodyWait) {
  run(3, [](World& world, int rank) {
    auto td = rank == 0 ? target(2) : row_of(rank);
    if (rank == 1) {
      td.set("csr", at::eye(2).to_sparse_csr());
      EXPECT_THROW(gather_and_stack(world, td, {.dst = 0}), c10::NotImplementedError);
    } else if (rank == 0) {
      EXPECT_THROW(gather_and_stack(world, td, {.dst = 0}), c10::ValueError);
    } else {
      EXPECT_EQ(gather_and_stack(world, td, {.dst = 0}), nullptr);
    }
  });
}

TEST_P(GatherAndStack, NeedsMoreThanOneRank) {
  run(1, [](World& world, int) {
    auto td = target(0);
    EXPECT_THROW(gather_and_stack(world, td, {.dst = 0}), c10::Error);
    EXPECT_THROW(gather_and_stack(world, td, {.dst = 1}), c10::ValueError);
  });
}

TEST(GatherAndStackGroup, MustHaveGlobalRanks) {
  const auto group =
      open_standalone(c10::make_intrusive<c10d::HashStore>(), 0, 1, {.timeout = 20s});
  auto td = target(0);
  EXPECT_THROW(gather_and_stack(World(), td, {.dst = 0, .group = group}), c10::ValueError);
  EXPECT_THROW(gather_and_stack(World(), td, {.dst = 0}), c10::ValueError);
}

TEST(GatherWire, HoldsTheStorageAndThenItsMetadata) {
  const auto message = encode(row_of(1), GatherWire::kStorages);
  EXPECT_EQ(message.kind, GatherKind::kStorage);
  EXPECT_EQ(message.storage_bytes, 8);
  EXPECT_TRUE(message.buffer.narrow(0, 0, 8).view(at::kFloat).equal(testing::ramp(11, 2)));
  const auto metadata = message.buffer.narrow(0, 8, message.buffer.numel() - 8);
  EXPECT_EQ(
      unpickle_value({static_cast<const char*>(metadata.const_data_ptr()), metadata.nbytes()}),
      consolidated_metadata(consolidate(row_of(1))));
}

TEST(GatherWire, PicklesWhatAStorageWouldLose) {
  const auto kind_of = [](Leaf leaf) {
    TensorDict td;
    td.set("a", std::move(leaf));
    return encode(td, GatherWire::kStorages).kind;
  };
  EXPECT_EQ(kind_of({at::zeros({1})}), GatherKind::kStorage);
  EXPECT_EQ(kind_of({at::zeros({2, 2}).t()}), GatherKind::kStorage);
  EXPECT_EQ(kind_of({at::zeros({1}).set_requires_grad(true)}), GatherKind::kPickle);
  EXPECT_EQ(kind_of({at::zeros({1}), kParameter}), GatherKind::kPickle);
  EXPECT_EQ(kind_of({at::zeros({1}), {"my.module", "MyTensor"}}), GatherKind::kPickle);
  EXPECT_EQ(kind_of(memory_map(at::zeros({1}))), GatherKind::kStorage);
  EXPECT_EQ(kind_of({at::eye(2).to_sparse()}), GatherKind::kPickle);
  EXPECT_EQ(kind_of({at::empty({1}, at::kMeta)}), GatherKind::kPickle);
  EXPECT_EQ(kind_of({at::zeros({1}).to(at::kFloat8_e5m2)}), GatherKind::kPickle);
}

TEST(GatherWire, LooksIntoLazyStacksForAReasonToPickle) {
  TensorDict parameter;
  parameter.set("a", Leaf{at::zeros({1}), kParameter});
  EXPECT_EQ(encode(lazy_pair(row_of(1), row_of(2)), GatherWire::kStorages).kind,
            GatherKind::kStorage);
  EXPECT_EQ(encode(lazy_pair(row_of(1), parameter), GatherWire::kStorages).kind,
            GatherKind::kPickle);
}

TEST(GatherWire, OfObjectsIsAlwaysAPickle) {
  EXPECT_EQ(gather_wire_for("gloo"), GatherWire::kStorages);
  EXPECT_EQ(gather_wire_for("cpu:gloo"), GatherWire::kObjects);
  EXPECT_EQ(gather_wire_for("undefined"), GatherWire::kObjects);
  EXPECT_EQ(encode(row_of(1), GatherWire::kObjects).kind, GatherKind::kPickle);
}

TEST(GatherMessages, RejectHeadersThatMakeNoSenseOnAllRanksAlike) {
  testing::run_ranks(2, [](World& world, int rank) {
    constexpr std::int64_t kHuge = std::int64_t{1} << 60;
    constexpr std::int64_t kMetadata = std::int64_t{1} << 26;
    const std::vector<std::int64_t> headers[] = {{3, 0, 0},
                                                 {-1, 0, 0},
                                                 {0, 0, 8},
                                                 {0, 8, 8},
                                                 {1, 8, 8},
                                                 {1, 0, -1},
                                                 {1, 0, kHuge},
                                                 {2, 9, 8},
                                                 {2, -1, 8},
                                                 {2, kHuge, kHuge},
                                                 {2, kHuge, kHuge + 8},
                                                 {2, 8, 8 + kMetadata + 1},
                                                 {2, -kHuge * 8, kHuge * 7}};
    for (const auto& header : headers) {
      if (rank == 0) {
        EXPECT_THROW(gather_messages(world.default_group(), 0, GatherWire::kStorages, {}),
                     c10::ValueError);
      } else {
        world.default_group().all_gather(at::tensor(header, at::kLong));
      }
    }
  });
}

}  // namespace
}  // namespace tdref
