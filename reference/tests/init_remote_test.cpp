// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/from_remote_init.h>
#include <tdref/init_remote.h>
#include <tdref/lazy_stack.h>
#include <tdref/pickle.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "kinds.h"
#include "outside.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using testing::bytes_of;
using testing::error_of;
using ::testing::HasSubstr;
using testing::metadata_with;
using testing::number;
using testing::with;
using namespace std::chrono_literals;

// Sends what `make` makes from rank 0 to rank 1, and returns what arrives.
AnyTensorDict arrived(const std::function<AnyTensorDict()>& make) {
  std::optional<AnyTensorDict> result;
  testing::run_ranks(2, [&](World& world, int rank) {
    if (rank == 0) {
      init_remote(world, *make(), {.dst = 1});
    } else {
      result = from_remote_init(world, {.src = 0});
    }
  });
  return *result;
}

void expect_arrival(const AnyTensorDict& td) {
  const auto result = arrived([&] { return td; });
  EXPECT_TRUE(result->is_consolidated());
  EXPECT_TRUE(testing::same(*result, *td));
}

TEST(InitRemote, ReachesEachOtherRankInTurn) {
  testing::run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      for (int src = 0; src < 3; ++src) {
        const auto td = testing::sample(10 * src + dst);
        if (src != dst && rank == src) {
          init_remote(world, td, {.dst = dst});
        } else if (src != dst && rank == dst) {
          EXPECT_TRUE(testing::same(*from_remote_init(world, {.src = src}), td));
        }
      }
    }
  });
}

TEST(InitRemote, BringsKeysShapesAndData) {
  expect_arrival(testing::sample(1));
  expect_arrival(TensorDict({3}));
  expect_arrival(with("n", TensorDict({2}), {2}));
  expect_arrival(with("a", at::zeros({0, 3})));
  expect_arrival(with("a", at::ones({}, at::kBFloat16)));
  expect_arrival(with("a", testing::ramp(0, 6).view({2, 3}).t()));
}

TEST(InitRemote, BringsNamesDeviceAndNonTensors) {
  TensorDict td({2}, at::Device(at::kCPU));
  td.set("text", NonTensor{"x"});
  td.set("rows", NonTensor{Value::List{1, "y"}, true});
  td.set("a", at::ones({2}));
  td.set_names({"time"});
  const auto result = testing::plain(arrived([&] { return td; }));
  EXPECT_EQ(result.names(), DimNames{"time"});
  EXPECT_EQ(result.device(), at::Device(at::kCPU));
  EXPECT_EQ(*result.get("text").non_tensor(), NonTensor{"x"});
  EXPECT_EQ(*result.get("rows").non_tensor(), (NonTensor{Value::List{1, "y"}, true}));
}

TEST(InitRemote, BringsLazyStacksAndJaggedLeaves) {
  expect_arrival(LazyStackedTensorDict({testing::sample(1), testing::sample(50)}, 0));
  const Jagged jagged{.values = testing::ramp(1, 5), .offsets = at::tensor({0, 2, 5}, at::kLong)};
  expect_arrival(with("j", jagged, {2}));
}

TEST(InitRemote, BringsTheClassOfATensorClass) {
  const TensorClass pair({"a.module", "Pair"},
                         with("n", TensorClass({"m", "Inner"}, TensorDict())));
  const auto result = arrived([&] { return pair; });
  ASSERT_NE(result->as<TensorClass>(), nullptr);
  EXPECT_EQ(result->as<TensorClass>()->cls(), pair.cls());
  EXPECT_TRUE(result->is_consolidated());
  const auto* inner = result->as<TensorClass>()->contents().get("n").nested()->as<TensorClass>();
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->cls(), (PythonClass{"m", "Inner"}));
}

TEST(InitRemote, PreparesForConsolidatedTransfers) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      init_remote(world, testing::sample(1), {.dst = 1});
      send(world, testing::sample(50), {.dst = 1, .consolidated = true});
      return;
    }
    auto td = from_remote_init(world, {.src = 0});
    const void* memory = td->consolidated().storage.const_data_ptr();
    recv(world, *td, {.src = 0, .consolidated = true});
    EXPECT_TRUE(testing::same(*td, testing::sample(50)));
    EXPECT_EQ(td->consolidated().storage.const_data_ptr(), memory);
  });
}

// The metadata of a level names its leaves before its nested tensordicts, so that the receiver
// inserts them in another order than that of the storage.
TEST(InitRemote, PreparesForConsolidatedTransfersWhateverTheOrderOfInsertion) {
  testing::run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    td.set("n", with("a", testing::ramp(1, 2)));
    td.set("empty", at::zeros({0}));
    td.set("b", testing::ramp(10, 3));
    if (rank == 0) {
      init_remote(world, td, {.dst = 1});
      send(world, td, {.dst = 1, .consolidated = true});
      return;
    }
    auto result = testing::plain(from_remote_init(world, {.src = 0}));
    EXPECT_EQ(result.keys(), (std::vector<std::string>{"empty", "b", "n"}));
    result.get("b").tensor().zero_();
    recv(world, result, {.src = 0, .consolidated = true});
    EXPECT_TRUE(result.get("b").tensor().equal(testing::ramp(10, 3)));
    EXPECT_TRUE(result.get(KeyPath{"n", "a"}).tensor().equal(testing::ramp(1, 2)));
  });
}

TEST(InitRemote, InASubgroupTakesGlobalRanks) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto group = world.new_group({1, 2});
    if (rank == 2) {
      init_remote(world, testing::sample(1), {.dst = 1, .group = group});
    } else if (rank == 1) {
      const auto td = from_remote_init(world, {.src = 2, .group = group});
      EXPECT_TRUE(testing::same(*td, testing::sample(1)));
    } else {
      EXPECT_THROW(init_remote(world, testing::sample(1), {.dst = 1, .group = group}),
                   c10::ValueError);
      EXPECT_THROW(from_remote_init(world, {.src = 1, .group = group}), c10::ValueError);
    }
  });
}

TEST(InitRemote, IsASizeAPickleAndAStorageWithTagZero) {
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        const auto td = consolidate(testing::sample(1));
        if (rank == 0) {
          init_remote(world, td, {.dst = 1});
          return;
        }
        const auto& group = world.default_group();
        const auto size = number(-1);
        group.irecv(size, 0, 0).wait();
        const auto pickle = at::empty({size.item<std::int64_t>()}, at::kByte);
        group.irecv(pickle, 0, 0).wait();
        const auto storage = at::empty({48}, at::kByte);
        group.irecv(storage, 0, 0).wait();
        auto metadata = consolidated_metadata(td);
        metadata.get_if<Value::Dict>()->emplace_back("_total_bytes", 48);
        EXPECT_EQ(
            unpickle_value({static_cast<const char*>(pickle.const_data_ptr()), pickle.nbytes()}),
            metadata);
        EXPECT_TRUE(storage.equal(td.consolidated().storage));
      },
      testing::plain_options());
}

struct Wrong {
  const char* name;
  std::function<void(const World&)> call;
  const char* message;
};

TEST(InitRemote, RefusesWrongArgumentsBeforeAnyMessage) {
  const TensorDict td = testing::sample(1);
  const std::vector<Wrong> sends{
      {"no_dst", [&](const World& world) { init_remote(world, td, {}); }, "`dst` must be"},
      {"self", [&](const World& world) { init_remote(world, td, {.dst = 0}); }, "this rank itself"},
      {"none", [&](const World& world) { init_remote(world, td, {.dst = 2}); }, "2"},
      {"negative", [&](const World& world) { init_remote(world, td, {.dst = -1}); }, "-1"},
      {"from_self", [](const World& world) { from_remote_init(world, {.src = 0}); }, "itself"},
      {"from_none", [](const World& world) { from_remote_init(world, {.src = 7}); }, "7"},
  };
  testing::run_ranks(2, [&](World& world, int rank) {
    for (const auto& wrong : sends) {
      if (rank != 0) continue;
      try {
        wrong.call(world);
        ADD_FAILURE() << wrong.name << " does not throw";
      } catch (const c10::ValueError& error) {
        EXPECT_THAT(error.what_without_backtrace(), HasSubstr(wrong.message)) << wrong.name;
      }
    }
    EXPECT_THROW(from_remote_init(world, {}), c10::TypeError);
  });
}

TEST(InitRemote, OfAStandaloneGroupIsRefused) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  testing::run_ranks(2, [&](World&, int rank) {
    const auto group = open_standalone(store, rank, 2, {.timeout = 20s});
    EXPECT_THROW(init_remote(World(), TensorDict(), {.dst = 1 - rank, .group = group}),
                 c10::ValueError);
    group.gather(at::zeros({1}), 0);  // neither rank leaves before the other is done
  });
}

TEST(InitRemote, OfWhatCannotBeConsolidatedFailsOnBothRanks) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      const auto sparse = with("a", at::eye(2).to_sparse());
      EXPECT_THROW(init_remote(world, sparse, {.dst = 1}), c10::NotImplementedError);
      init_remote(world, testing::sample(1), {.dst = 1});
      return;
    }
    const auto text = error_of([&] { from_remote_init(world, {.src = 0}); });
    EXPECT_THAT(text, HasSubstr("rank 0 refused"));
    EXPECT_THAT(text, HasSubstr("cannot be consolidated"));
    EXPECT_TRUE(testing::same(*from_remote_init(world, {.src = 0}), testing::sample(1)));
  });
}

void expect_refusal_on_both_ranks(const TensorDict& td, const char* complaint) {
  testing::run_ranks(2, [&](World& world, int rank) {
    if (rank == 0) {
      const auto text = error_of([&] { init_remote(world, td, {.dst = 1}); });
      EXPECT_THAT(text, HasSubstr(complaint));
      init_remote(world, testing::sample(1), {.dst = 1});
      return;
    }
    const auto text = error_of([&] { from_remote_init(world, {.src = 0}); });
    EXPECT_THAT(text, HasSubstr("rank 0 refused"));
    EXPECT_THAT(text, HasSubstr(complaint));
    EXPECT_TRUE(testing::same(*from_remote_init(world, {.src = 0}), testing::sample(1)));
  });
}

TEST(InitRemote, RefusesNestedTensorDictsUnderItsOwnKeys) {
  for (const char* key : {"_total_bytes", "_tensorclass_type"}) {
    expect_refusal_on_both_ranks(with(key, with("a", at::ones({2}))), key);
    expect_arrival(with(key, at::ones({2})));
    expect_arrival(with("n", with(key, with("a", at::ones({2})))));
  }
}

TEST(InitRemote, RefusesAStorageThatItsReceiverWouldNotTake) {
  const auto metadata = consolidated_metadata(consolidate(with("a", at::ones({2}))));
  const auto td = rebuild(metadata, at::zeros({16}, at::kByte));
  expect_refusal_on_both_ranks(testing::plain(td), "its last leaf ends at byte 8");
}

TEST(InitRemote, AgainstAnotherOperationFailsOnBothRanks) {
  testing::run_ranks(2, [](World& world, int rank) {
    auto td = consolidate(testing::sample(1));
    const auto there = error_of([&] {
      if (rank == 0) {
        init_remote(world, td, {.dst = 1});
      } else {
        recv(world, td, {.src = 0, .consolidated = true});
      }
    });
    EXPECT_THAT(there, HasSubstr("the metadata of a tensordict and its consolidated storage on"));
    EXPECT_THAT(there, HasSubstr("one consolidated message of 48 bytes on"));
    const auto back = error_of([&] {
      if (rank == 0) {
        from_remote_init(world, {.src = 1});
      } else {
        send(world, td, {.dst = 0, .consolidated = true});
      }
    });
    EXPECT_THAT(back, HasSubstr("one consolidated message of 48 bytes on rank 1, which sends"));
  });
}

std::vector<at::Tensor> announced(const Value& metadata) {
  const auto pickle = pickle_value(metadata);
  return {number(static_cast<std::int64_t>(pickle.size())), bytes_of(pickle)};
}

TEST(FromRemoteInit, RefusesWhatAHostilePeerSends) {
  const auto all = testing::hostile_metadata();
  for (const auto& hostile : all) {
    testing::run_ranks(
        2,
        [&](World& world, int rank) {
          const auto& group = world.default_group();
          if (rank == 0) {
            group.isend(number(hostile.size), 1, 0).wait();
            if (hostile.size == static_cast<std::int64_t>(hostile.pickle.size())) {
              group.isend(bytes_of(hostile.pickle), 1, 0).wait();
            }
          } else {
            try {
              from_remote_init(world, {.src = 0});
              ADD_FAILURE() << hostile.name << " is accepted";
            } catch (const c10::ValueError& error) {
              EXPECT_THAT(error.what_without_backtrace(), HasSubstr(hostile.error)) << hostile.name;
            }
          }
        },
        testing::plain_options());
  }
}

// What from_remote_init makes of these bytes of a storage of 8.
AnyTensorDict received_from_outside(const Value& metadata) {
  std::optional<AnyTensorDict> result;
  testing::run_ranks(
      2,
      [&](World& world, int rank) {
        if (rank == 1) {
          result = from_remote_init(world, {.src = 0});
          return;
        }
        auto messages = announced(metadata);
        messages.push_back(at::zeros({8}, at::kByte));
        for (const auto& message : messages) {
          world.default_group().isend(message, 1, 0).wait();
        }
      },
      testing::plain_options());
  return *result;
}

Value metadata_of_class(const char* name) {
  auto metadata = metadata_with(8);
  metadata.get_if<Value::Dict>()->emplace_back("_tensorclass_type", name);
  return metadata;
}

TEST(FromRemoteInit, NamesATensorClassByItsModuleAndName) {
  const auto td = received_from_outside(metadata_of_class("a.module.Name"));
  ASSERT_NE(td->as<TensorClass>(), nullptr);
  EXPECT_EQ(td->as<TensorClass>()->cls(), (PythonClass{"a.module", "Name"}));
}

void expect_refusal_from_outside(const Value& metadata, const char* complaint) {
  EXPECT_THAT(error_of([&] { received_from_outside(metadata); }), HasSubstr(complaint));
}

TEST(FromRemoteInit, TakesTheStorageBeforeItRefusesTheNameOfAClass) {
  for (const char* name : {"Name", ".Name", "module."}) {
    const auto announced_class = c10::str("group rank 0 announces the tensorclass '", name, "'");
    expect_refusal_from_outside(metadata_of_class(name), announced_class.c_str());
  }
}

TEST(FromRemoteInit, TakesTheStorageBeforeItRefusesATensorClassOfALazyStack) {
  const LazyStackedTensorDict stack({with("a", at::ones({2}))}, 0);
  auto metadata = consolidated_metadata(consolidate(stack));
  auto& items = *metadata.get_if<Value::Dict>();
  items.emplace_back("_total_bytes", 8);
  items.emplace_back("_tensorclass_type", "a.module.Name");
  expect_refusal_from_outside(metadata,
                              "the tensorclass 'a.module.Name' that holds a LazyStackedTensorDict");
}

}  // namespace
}  // namespace tdref
