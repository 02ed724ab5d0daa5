// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/errors.h>
#include <tdref/gather_and_stack.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/pickle.h>
#include <tdref/plan.h>
#include <tdref/recv.h>
#include <tdref/send.h>
#include <tdref/tensordict.h>

#include <string>

#include "ops/gather_wire.h"
#include "ranks.h"
#include "tree/select.h"
#include "tree/stack.h"
#include "tree/walk.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

const PythonClass kPair{"my.module", "Outer.Pair"};
const PythonClass kOther{"my.module", "Other"};

TensorClass pair(int first) {
  return {kPair, testing::sample(first)};
}

// {z: float32[2], p: a Pair}
TensorDict holder(int first) {
  TensorDict td({2});
  td.set("z", testing::ramp(first, 2));
  td.set("p", pair(first));
  return td;
}

TensorClass poisoned_pair() {
  return {kPair, testing::poisoned_sample()};
}

TEST(TensorClass, HasTheBatchSizeAndTheDeviceOfItsContents) {
  const TensorClass td(kPair, TensorDict({2, 3}, at::Device(at::kCPU)));
  EXPECT_THAT(td.batch_size(), ElementsAre(2, 3));
  EXPECT_EQ(td.device(), at::Device(at::kCPU));
  EXPECT_THROW(TensorDict({3}).set("p", pair(1)), c10::Error);
}

TEST(TensorClass, CopiesShareTheTensorsAndNotTheKeys) {
  auto td = pair(1);
  auto copy = td;
  copy.edit_contents().erase("a");
  EXPECT_TRUE(td.contents().contains("a"));
  EXPECT_TRUE(copy.contents().get("b").tensor().is_same(td.contents().get("b").tensor()));
}

TEST(TensorClass, IsLockedWithItsContents) {
  auto locked = testing::sample(1);
  locked.lock();
  EXPECT_TRUE(TensorClass(kPair, locked).is_locked());
  auto td = holder(1);
  td.lock();
  const auto* nested = td.get("p").nested()->as<TensorClass>();
  EXPECT_TRUE(nested->is_locked());
  EXPECT_TRUE(nested->contents().is_locked());
  td.unlock();
  EXPECT_FALSE(nested->is_locked());
  EXPECT_FALSE(nested->contents().is_locked());
}

TEST(TensorClass, IsUnlockedThroughItsContents) {
  auto td = pair(1);
  td.lock();
  td.edit_contents().unlock();
  EXPECT_FALSE(td.is_locked());
  auto outer = holder(1);
  outer.edit_nested("p").lock();
  EXPECT_TRUE(outer.get("p").nested()->is_locked());
  outer.edit_nested("p").unlock();
  EXPECT_FALSE(outer.get("p").nested()->is_locked());
}

TEST(TensorClass, IsConsolidatedIfItsContentsAre) {
  const TensorClass td(kPair, consolidate(testing::sample(1)));
  EXPECT_TRUE(td.is_consolidated());
  EXPECT_TRUE(td.is_locked());
  auto unlocked = td;
  unlocked.edit_contents().unlock();
  EXPECT_FALSE(unlocked.is_consolidated());
  EXPECT_TRUE(td.is_consolidated());
}

TEST(TensorClass, IsPassedThroughByAKeyPath) {
  auto td = holder(1);
  EXPECT_TRUE(td.get({"p", "n", "c"}).tensor().equal(testing::false_true()));
  EXPECT_THROW(td.get(KeyPath{"p", "x"}), KeyError);
  td.edit_nested("p").set("more", testing::ramp(1, 2));
  EXPECT_TRUE(td.get("p").nested()->as<TensorClass>()->contents().contains("more"));
}

TEST(TensorClass, TravelsByItsFieldsInSortedOrder) {
  std::string leaves;
  for (const auto& leaf : plan_transfer(holder(1), {.init_tag = 3})) {
    leaves += std::to_string(leaf.tag) + to_string(leaf.key) + ' ';
  }
  EXPECT_EQ(leaves, "3('p', 'a') 4('p', 'b') 5('p', 'n', 'c') 6'z' ");
}

TEST(TensorClass, KeepsItsClassInARowAndInACopy) {
  const auto row = select(pair(1), 0, 1);
  ASSERT_NE(row->as<TensorClass>(), nullptr);
  EXPECT_EQ(row->as<TensorClass>()->cls(), kPair);
  EXPECT_TRUE(row->as<TensorClass>()->contents().get("b").tensor().equal(testing::ramp(4, 3)));
  const auto copy = map_tensors(holder(1), [](const at::Tensor& tensor) { return tensor.clone(); });
  EXPECT_TRUE(testing::same(*copy, holder(1)));
}

TEST(TensorClass, HoldsNoPersistentTensordictUnlessAFieldIsOne) {
  EXPECT_FALSE(holds_persistent(holder(1)));
}

TEST(StackOfTensorClasses, KeepsOneClassAndHasNoneOfSeveral) {
  const auto alike = stack({pair(1), pair(10)});
  ASSERT_NE(alike->as<TensorClass>(), nullptr);
  EXPECT_EQ(alike->as<TensorClass>()->cls(), kPair);
  const auto dense = testing::plain(stack({testing::sample(1), testing::sample(10)}));
  EXPECT_TRUE(testing::same(alike->as<TensorClass>()->contents(), dense));
  const TensorClass other(kOther, testing::sample(10));
  EXPECT_TRUE(testing::same(*stack({pair(1), other}), dense));
  EXPECT_TRUE(testing::same(*stack({testing::sample(1), pair(10)}), dense));
}

TEST(StackOfTensorClasses, KeepsTheClassBelow) {
  const auto rows = testing::plain(stack({holder(1), holder(10)}));
  const auto* nested = rows.get("p").nested()->as<TensorClass>();
  ASSERT_NE(nested, nullptr);
  EXPECT_EQ(nested->cls(), kPair);
  EXPECT_THAT(nested->batch_size(), ElementsAre(2, 2));
}

TEST(StackOfTensorClasses, BecomesDenseWithoutLosingTheClassBelow) {
  TensorDict member({2});
  member.set("p", pair(1));
  const auto dense = to_dense(LazyStackedTensorDict({member, member}));
  EXPECT_NE(dense.get("p").nested()->as<TensorClass>(), nullptr);
  EXPECT_TRUE(testing::same(to_dense(pair(1)), testing::sample(1)));
}

struct Written {
  const char* name;
  AnyTensorDict target;
  AnyTensorDict source;
  AnyTensorDict result;
};

void PrintTo(const Written& written, std::ostream* out) {
  *out << written.name;
}

class UpdateOfATensorClass : public ::testing::TestWithParam<Written> {};

TEST_P(UpdateOfATensorClass, WritesInPlaceAndKeepsTheClass) {
  auto target = AnyTensorDict(
      *map_tensors(*GetParam().target, [](const at::Tensor& tensor) { return tensor.clone(); }));
  target->update_in_place(*GetParam().source);
  EXPECT_TRUE(testing::same(*target, *GetParam().result));
}

TensorDict in_order_of_poison(int first) {
  auto td = testing::poisoned_sample();
  td.update_in_place(testing::sample(first));
  return td;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    UpdateOfATensorClass,
    ::testing::Values(
        Written{
            "FromItsClass", poisoned_pair(), pair(3), TensorClass(kPair, in_order_of_poison(3))},
        Written{"FromATensordict",
                poisoned_pair(),
                testing::sample(3),
                TensorClass(kPair, in_order_of_poison(3))},
        Written{"FromAnotherClass",
                poisoned_pair(),
                TensorClass(kOther, testing::sample(3)),
                TensorClass(kPair, in_order_of_poison(3))},
        Written{"IntoATensordict", testing::poisoned_sample(), pair(3), in_order_of_poison(3)},
        Written{"IntoTheMembersOfAStack",
                LazyStackedTensorDict({poisoned_pair(), poisoned_pair()}),
                stack({pair(3), pair(30)}),
                LazyStackedTensorDict({TensorClass(kPair, in_order_of_poison(3)),
                                       TensorClass(kPair, in_order_of_poison(30))})}),
    [](const auto& test) { return test.param.name; });

TEST(UpdateOfTensorClasses, ChecksEverythingBeforeItWrites) {
  auto td = poisoned_pair();
  auto source = testing::sample(1);
  source.set("b", testing::ramp(1, 2));
  EXPECT_THROW(td.update_in_place(source), c10::Error);
  EXPECT_TRUE(testing::same(td, poisoned_pair()));
  td.lock();
  source = testing::sample(1);
  source.set("new", testing::ramp(1, 2));
  EXPECT_THROW(td.update_in_place(source), c10::Error);
}

TEST(ConsolidateOfATensorClass, KeepsTheClassAndViewsTheStorage) {
  const TensorClass whole = consolidate(pair(1));
  EXPECT_EQ(whole.cls(), kPair);
  EXPECT_TRUE(whole.is_locked());
  // b: 24 bytes, a: 16, n.c: 2 and 6 of padding
  EXPECT_EQ(whole.consolidated().storage.numel(), 48);
  EXPECT_TRUE(testing::same(whole, pair(1)));
  EXPECT_TRUE(whole.contents().get("b").tensor().is_alias_of(whole.consolidated().storage));
  ASSERT_TRUE(whole.contents().is_consolidated());
  EXPECT_TRUE(whole.contents().consolidated().storage.is_same(whole.consolidated().storage));
}

TEST(ConsolidateOfATensorClass, NamesTheClassBelowTheRootAlone) {
  const auto root = consolidated_metadata(consolidate(pair(1)));
  EXPECT_EQ(*root.find("cls"), Value("TensorDict"));
  EXPECT_EQ(root, consolidated_metadata(consolidate(testing::sample(1))));
  const auto nested = consolidated_metadata(consolidate(holder(1)));
  EXPECT_EQ(*nested.find("p")->find("cls"), Value(kPair));
  EXPECT_EQ(unpickle_value(pickle_value(nested)), nested);
  const auto members =
      consolidated_metadata(consolidate(LazyStackedTensorDict({pair(1), pair(2)})));
  EXPECT_EQ(*members.find("1")->find("cls"), Value(kPair));
}

TEST(ConsolidateOfATensorClass, IsRebuiltFromItsMetadata) {
  const auto whole = consolidate(holder(1));
  const auto rebuilt = rebuild(consolidated_metadata(whole), whole.consolidated().storage);
  EXPECT_TRUE(testing::same(*rebuilt, holder(1)));
  auto metadata = consolidated_metadata(whole);
  metadata.get_if<Value::Dict>()->front().second = Value(kOther);
  const auto other = rebuild(metadata, whole.consolidated().storage);
  ASSERT_NE(other->as<TensorClass>(), nullptr);
  EXPECT_EQ(other->as<TensorClass>()->cls(), kOther);
  metadata.get_if<Value::Dict>()->front().second = Value("my.module.Other");
  EXPECT_THROW(rebuild(metadata, whole.consolidated().storage), c10::ValueError);
}

TEST(PickleOfATensorClass, ComesBack) {
  auto with_data = testing::sample(1);
  with_data.set("s", NonTensor{.data = "text"});
  TensorDict td({2});
  td.set("p", TensorClass(kPair, with_data));
  td.set("l",
         LazyStackedTensorDict({TensorClass(kOther, TensorDict()), pair(1).with(TensorDict())}));
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(td)), td));
  const TensorClass root(kOther, td);
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(root)), root));
}

TEST(PickleOfATensorClass, IsThatOfItsStorageWhenItIsConsolidated) {
  const TensorClass whole = consolidate(TensorClass(kOther, holder(1)));
  const auto pickle = pickle_tensordict(whole);
  EXPECT_NE(pickle.find("_rebuild_tensordict_files_consolidated"), std::string::npos);
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle), whole));
}

TEST(PickleOfATensorClass, IsRefusedWhenItIsCutOff) {
  const auto whole = pickle_tensordict(pair(1));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(unpickle_tensordict(std::string_view(whole).substr(0, length)), c10::ValueError);
  }
}

TEST(GatherWireOfATensorClass, IsAStorageAndNamesNoClassAtTheRoot) {
  for (const auto wire : {GatherWire::kStorages, GatherWire::kObjects}) {
    const auto message = encode(pair(1), wire);
    EXPECT_EQ(message.kind,
              wire == GatherWire::kStorages ? GatherKind::kStorage : GatherKind::kPickle);
    EXPECT_TRUE(testing::same(*decode(message, 0), testing::sample(1)));
    EXPECT_TRUE(testing::same(*decode(encode(holder(1), wire), 0), holder(1)));
  }
  auto with_history = testing::sample(1);
  with_history.set("b", testing::ramp(1, 2).requires_grad_(true));
  EXPECT_EQ(encode(TensorClass(kPair, with_history), GatherWire::kStorages).kind,
            GatherKind::kPickle);
}

TEST(GatherWireOfATensorClass, IsThatOfItsContentsWhenItIsConsolidated) {
  const auto td = consolidate(pair(1));
  for (const auto wire : {GatherWire::kStorages, GatherWire::kObjects}) {
    const auto message = encode(td, wire);
    const auto of_contents = encode(consolidate(testing::sample(1)), wire);
    EXPECT_EQ(message.kind, of_contents.kind);
    EXPECT_TRUE(message.buffer.equal(of_contents.buffer));
    EXPECT_TRUE(decode(message, 0)->is_consolidated());
  }
}

TEST(TransferOfATensorClass, ReceivesInPlaceByEveryOperation) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      send(world, pair(1), {.dst = 1});
      EXPECT_EQ(std::get<std::int64_t>(isend(world, pair(2), {.dst = 1, .init_tag = 5})), 7);
      send(world, pair(3), {.dst = 1, .consolidated = true});
      send(world, pair(4), {.dst = 1});
      return;
    }
    auto td = poisoned_pair();
    const auto before = td.contents().get("b").tensor();
    EXPECT_EQ(recv(world, td, {.src = 0}), 2);
    EXPECT_TRUE(testing::same(td, TensorClass(kPair, in_order_of_poison(1))));
    EXPECT_TRUE(td.contents().get("b").tensor().is_same(before));
    EXPECT_EQ(irecv(world, td, {.src = 0, .init_tag = 5}), std::nullopt);
    EXPECT_TRUE(before.equal(testing::sample(2).get("b").tensor()));
    auto whole = consolidate(pair(0));
    recv(world, whole, {.src = 0, .consolidated = true});
    EXPECT_TRUE(testing::same(whole, pair(3)));
    auto without_class = testing::poisoned_sample();
    recv(world, without_class, {.src = 0});
    EXPECT_TRUE(testing::same(without_class, in_order_of_poison(4)));
  });
}

TEST(GatherAndStackOfTensorClasses, KeepsTheClassOfEachDstInTurn) {
  for (const char* backend : {"gloo", "undefined"}) {
    testing::run_ranks(3,
                       [](World& world, int rank) {
                         for (int dst = 0; dst < 3; ++dst) {
                           if (rank != dst) {
                             auto row = pair(10 * rank);
                             EXPECT_EQ(gather_and_stack(world, row, {.dst = dst}), nullptr);
                             continue;
                           }
                           auto td = *stack({poisoned_pair(), poisoned_pair()})->as<TensorClass>();
                           EXPECT_EQ(gather_and_stack(world, td, {.dst = dst}), &td);
                           EXPECT_EQ(td.cls(), kPair);
                           const int first = dst == 0 ? 10 : 0;
                           const int second = dst == 2 ? 10 : 20;
                           EXPECT_TRUE(td.contents().get("b").tensor().equal(
                               at::stack({testing::sample(first).get("b").tensor(),
                                          testing::sample(second).get("b").tensor()})));
                         }
                       },
                       {.backend = backend});
  }
}

}  // namespace
}  // namespace tdref
