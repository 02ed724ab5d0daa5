// SPDX-License-Identifier: BSD-3-Clause
#include "tree/non_tensor.h"

#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;

const NonTensor kRow{Value::List{"x", "y"}, true};
const NonTensor kOtherRow{Value::List{"z", 1}, true};
const NonTensor kSquare{Value::List{kRow.data, kOtherRow.data}, true, 1};

TEST(NonTensorStack, IsMadeOfRowsAndGivesThemBack) {
  EXPECT_EQ(stack_data({{"x"}, {"y"}}), kRow);
  EXPECT_EQ(stack_data({kRow, kOtherRow}), kSquare);
  EXPECT_EQ(row_of(kSquare, 1), kOtherRow);
  EXPECT_EQ(row_of(kRow, 1), NonTensor{"y"});
  EXPECT_THAT(rows_of(kSquare), ElementsAre(2, 2));
  EXPECT_THAT(rows_of(NonTensor{kSquare.data, true}), ElementsAre(2));
  EXPECT_THAT(rows_of(NonTensor{"x"}), ElementsAre());
}

TEST(NonTensorStack, HasRowsOfOneForm) {
  EXPECT_THROW(stack_data({kRow, {"x"}}), c10::ValueError);
  EXPECT_THROW(rows_of({Value::List{Value::List{1}, Value::List{}}, true, 1}), c10::ValueError);
  EXPECT_THROW(rows_of({"x", true}), c10::ValueError);
}

TEST(NonTensorStack, OfListsIsAsDeepAsTheBatch) {
  EXPECT_EQ(stacked_lists(kSquare.data, {2, 2}), kSquare);
  EXPECT_EQ(stacked_lists(kSquare.data, {2}), (NonTensor{kSquare.data, true}));
  EXPECT_EQ(stacked_lists(kSquare.data, {2, 3}), (NonTensor{kSquare.data, true}));
  EXPECT_THROW(stacked_lists(kSquare.data, {3}), c10::ValueError);
  EXPECT_THROW(stacked_lists("x", {3}), c10::ValueError);
}

TEST(NonTensorStack, FitsTheBatchInAllItsDimensions) {
  TensorDict td({2, 2});
  EXPECT_NO_THROW(td.set("s", kSquare));
  EXPECT_NO_THROW(td.set("s", kRow));
  EXPECT_THROW(TensorDict({2}).set("s", kSquare), c10::Error);
  EXPECT_THROW(TensorDict({2, 3}).set("s", kSquare), c10::Error);
}

TEST(NonTensorStack, OfStacksTravelsAsItIs) {
  TensorDict td({2, 2});
  td.set("s", kSquare);
  td.set("lists", NonTensor{kSquare.data, true});
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle_tensordict(td)), td));
  const auto whole = consolidate(td);
  const auto rebuilt =
      testing::plain(rebuild(consolidated_metadata(whole), whole.consolidated().storage));
  EXPECT_EQ(*rebuilt.get("s").non_tensor(), kSquare);
  EXPECT_EQ(*rebuilt.get("lists").non_tensor(), (NonTensor{kSquare.data, true}));
}

}  // namespace
}  // namespace tdref
