// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/consolidate.h>
#include <tdref/errors.h>

#include "trees.h"

namespace tdref {
namespace {

Value leaf_metadata(const char* dtype, Value::List shape, int start, int stop, int pad) {
  return Value::Tuple{{dtype, std::move(shape), start, stop, pad}};
}

Value td_metadata(Value::Dict non_tensors,
                  Value::Dict leaves,
                  Value::Dict cls_metadata,
                  Value::Dict nested = {}) {
  Value::Dict dict{{"cls", "TensorDict"},
                   {"non_tensors", std::move(non_tensors)},
                   {"leaves", std::move(leaves)},
                   {"cls_metadata", std::move(cls_metadata)}};
  dict.insert(dict.end(), nested.begin(), nested.end());
  return dict;
}

Value::Dict plain_cls_metadata(Value::List batch_size, Value::List names) {
  return {{"device", nullptr},
          {"names", std::move(names)},
          {"batch_size", std::move(batch_size)},
          {"is_locked", false}};
}

// {a: uint8[4]} as the first 8 bytes of a storage
Value one_leaf(Value leaf) {
  return td_metadata({}, {{"a", std::move(leaf)}}, plain_cls_metadata({}, {}));
}

TEST(Metadata, DescribesEveryLevel) {
  TensorDict nested({2});
  nested.set("x", at::zeros({2, 2}, at::kShort));
  TensorDict td({2}, at::kCPU);
  td.set_names({"time"});
  td.set("a", at::zeros({2}, at::kFloat));
  td.set("s", NonTensor{"text"});
  td.set("n", nested);
  td.set("stack", NonTensor{Value::List{1, 2}, true});

  const Value expected = td_metadata(
      {{"s", Value::Tuple{{"text", Value::List{2}, "cpu"}}}},
      {{"a", leaf_metadata("torch.float32", {2}, 0, 8, 0)}},
      {{"device", "cpu"},
       {"names", Value::List{"time"}},
       {"batch_size", Value::List{2}},
       {"is_locked", false}},
      {{"n",
        td_metadata({},
                    {{"x", leaf_metadata("torch.int16", {2, 2}, 8, 16, 0)}},
                    plain_cls_metadata({2}, {nullptr}))},
       {"stack",
        Value::Dict{
            {"cls", "NonTensorStack"},
            {"non_tensors",
             Value::Dict{{"0", Value::Tuple{{1, Value::List{}, "cpu"}}},
                         {"1", Value::Tuple{{2, Value::List{}, "cpu"}}}}},
            {"leaves", Value::Dict{}},
            {"cls_metadata",
             Value::Dict{{"stack_dim", 0}, {"stack_dim_name", "time"}, {"is_locked", false}}}}}});
  EXPECT_EQ(consolidated_metadata(consolidate(td)), expected);
}

TEST(Metadata, SaysWhetherTheTensordictWasLocked) {
  TensorDict td;
  td.lock();
  EXPECT_EQ(*consolidated_metadata(consolidate(td)).find("cls_metadata")->find("is_locked"),
            Value(true));
}

TEST(Metadata, RefusesWhatItsReadersCannotRebuild) {
  TensorDict float8;
  float8.set("a", at::zeros({1}, at::kFloat8_e4m3fn));
  TensorDict reserved;
  reserved.set("leaves", TensorDict());
  TensorDict jagged;
  jagged.set("<NJT_VALUES>a", at::zeros({1}));
  for (const auto& td : {float8, reserved, jagged}) {
    EXPECT_THROW(consolidated_metadata(consolidate(td)), c10::NotImplementedError);
  }
  EXPECT_THROW(consolidated_metadata(TensorDict()), AttributeError);
}

TEST(Rebuild, GivesBackWhatWasConsolidated) {
  TensorDict td({2}, at::kCPU);
  td.set_names({"time"});
  td.set("s", NonTensor{"text"});
  td.set("a", at::tensor({1., 2.}, at::kFloat));
  td.set("e", at::zeros({2, 0}));
  td.set("stack", NonTensor{Value::List{1, 2}, true});
  const auto consolidated = consolidate(td);
  const auto rebuilt = testing::plain(
      rebuild(consolidated_metadata(consolidated), consolidated.consolidated().storage));
  EXPECT_TRUE(testing::same(rebuilt, td));
  EXPECT_TRUE(rebuilt.is_consolidated());
  EXPECT_EQ(rebuilt.get("a").tensor().data_ptr(), consolidated.get("a").tensor().data_ptr());
}

Value lazy_stack_metadata(Value::Dict members, Value stack_dim = 0) {
  Value::Dict metadata{
      {"cls", "LazyStackedTensorDict"},
      {"non_tensors", Value::Dict{}},
      {"leaves", Value::Dict{}},
      {"cls_metadata",
       Value::Dict{
           {"stack_dim", std::move(stack_dim)}, {"stack_dim_name", "time"}, {"is_locked", false}}}};
  metadata.insert(metadata.end(), members.begin(), members.end());
  return metadata;
}

Value member_metadata(int start) {
  return td_metadata({},
                     {{"a", leaf_metadata("torch.int64", {}, start, start + 8, 0)}},
                     plain_cls_metadata({}, {}));
}

TEST(Metadata, NumbersTheMembersOfALazyStack) {
  TensorDict member;
  member.set("a", at::zeros({}, at::kLong));
  const LazyStackedTensorDict stack({member, member}, 0, "time");
  EXPECT_EQ(consolidated_metadata(consolidate(stack)),
            lazy_stack_metadata({{"0", member_metadata(0)}, {"1", member_metadata(8)}}));
}

TEST(Rebuild, MakesALazyStackOfViews) {
  const auto storage = at::tensor({3, 4}, at::kLong).view(at::kByte);
  const auto td =
      rebuild(lazy_stack_metadata({{"0", member_metadata(0)}, {"1", member_metadata(8)}}), storage);
  EXPECT_TRUE(td->is_consolidated());
  const auto* stack = td->as<LazyStackedTensorDict>();
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->stack_dim_name(), "time");
  ASSERT_EQ(stack->members().size(), 2U);
  storage.view(at::kLong).fill_(5);
  EXPECT_EQ(testing::plain(stack->members()[1]).get("a").tensor().item<int>(), 5);
}

TEST(Rebuild, RejectsLazyStacksWithoutTheirMembers) {
  const auto storage = at::zeros({16}, at::kByte);
  for (const auto& members : {Value::Dict{},
                              Value::Dict{{"1", member_metadata(0)}},
                              Value::Dict{{"0", member_metadata(0)}, {"a", member_metadata(8)}}}) {
    EXPECT_THROW(rebuild(lazy_stack_metadata(members), storage), c10::ValueError);
  }
  for (const Value& dim : {Value(-1), Value(1), Value("0")}) {
    EXPECT_THROW(rebuild(lazy_stack_metadata({{"0", member_metadata(0)}}, dim), storage),
                 c10::ValueError);
  }
}

Value jagged_metadata(Value::Dict leaves) {
  return td_metadata({}, std::move(leaves), plain_cls_metadata({2}, {nullptr}));
}

Value offsets_metadata(Value ragged_idx) {
  return Value::Tuple{{"torch.int64", Value::List{3}, 16, 40, 0, std::move(ragged_idx)}};
}

TEST(Metadata, NamesThePartsOfAJaggedLeaf) {
  TensorDict td({2});
  td.set("j", Jagged{.values = testing::ramp(0, 4), .offsets = at::tensor({0, 1, 4}, at::kLong)});
  EXPECT_EQ(consolidated_metadata(consolidate(td)),
            jagged_metadata({{"<NJT_VALUES>j", leaf_metadata("torch.float32", {4}, 0, 16, 0)},
                             {"<NJT_OFFSETS>j", offsets_metadata(1)}}));
}

TEST(Rebuild, MakesAJaggedLeafOfItsParts) {
  const auto storage = at::cat(
      {testing::ramp(0, 4).view(at::kByte), at::tensor({0, 1, 4}, at::kLong).view(at::kByte)});
  const auto td = testing::plain(
      rebuild(jagged_metadata({{"<NJT_VALUES>j", leaf_metadata("torch.float32", {4}, 0, 16, 0)},
                               {"<NJT_OFFSETS>j", offsets_metadata(1)}}),
              storage));
  const auto* jagged = td.get("j").jagged();
  ASSERT_NE(jagged, nullptr);
  EXPECT_TRUE(jagged->values.equal(testing::ramp(0, 4)));
  EXPECT_TRUE(jagged->offsets.equal(at::tensor({0, 1, 4}, at::kLong)));
  EXPECT_FALSE(jagged->lengths.defined());
}

TEST(Rebuild, RejectsPartsThatMakeNoJaggedLeaf) {
  const std::pair<Value, Value> values{"<NJT_VALUES>j",
                                       leaf_metadata("torch.float32", {4}, 0, 16, 0)};
  const std::pair<Value, Value> offsets{"<NJT_OFFSETS>j", offsets_metadata(1)};
  const std::pair<Value, Value> unknown{"<NJT>j", offsets_metadata(1)};
  const auto good = at::cat(
      {testing::ramp(0, 4).view(at::kByte), at::tensor({0, 1, 4}, at::kLong).view(at::kByte)});
  for (const auto& leaves : {Value::Dict{values},
                             Value::Dict{offsets},
                             Value::Dict{offsets, values},
                             Value::Dict{values, unknown},
                             Value::Dict{values, {"<NJT_OFFSETS>j", offsets_metadata(0)}},
                             Value::Dict{values, {"<NJT_OFFSETS>j", offsets_metadata(2)}}}) {
    EXPECT_THROW(rebuild(jagged_metadata(leaves), good), c10::ValueError);
  }
  for (const auto& rows : {at::tensor({0, 1, 5}, at::kLong),
                           at::tensor({-1, 1, 4}, at::kLong),
                           at::tensor({0, 3, 2}, at::kLong)}) {
    EXPECT_THROW(rebuild(jagged_metadata({values, offsets}),
                         at::cat({testing::ramp(0, 4).view(at::kByte), rows.view(at::kByte)})),
                 c10::ValueError);
  }
}

TEST(Rebuild, AcceptsTheLeafItIsGiven) {
  const auto td = testing::plain(
      rebuild(one_leaf(leaf_metadata("torch.uint8", {4}, 0, 8, 4)), at::ones({8}, at::kByte)));
  EXPECT_TRUE(td.get("a").tensor().equal(at::ones({4}, at::kByte)));
}

TEST(Rebuild, RejectsLeavesThatDoNotLieInTheStorage) {
  const auto storage = at::ones({8}, at::kByte);
  const Value leaves[] = {
      leaf_metadata("torch.uint8", {12}, 0, 16, 4),                        // past the end
      leaf_metadata("torch.uint8", {4}, -8, 0, 4),                         // before the start
      leaf_metadata("torch.uint8", {4}, 8, 0, 4),                          // backwards
      leaf_metadata("torch.uint8", {9}, 0, 8, 0),                          // larger than its bytes
      leaf_metadata("torch.uint8", {4}, 0, 8, 0),                          // another padding
      leaf_metadata("torch.uint8", {-4}, 0, 8, 4),                         // negative size
      leaf_metadata("torch.uint8", {1 << 30, 1 << 30, 1 << 30}, 0, 8, 0),  // overflows
      leaf_metadata("torch.int16", {1}, 1, 3, 0),                          // not aligned
      leaf_metadata("torch.nonsense", {4}, 0, 8, 4),                       // no such dtype
      Value::Tuple{{"torch.uint8", Value::List{4}}},                       // too short
      Value("torch.uint8"),                                                // no tuple
  };
  for (const auto& leaf : leaves) {
    EXPECT_THROW(rebuild(one_leaf(leaf), storage), c10::ValueError);
  }
}

TEST(Rebuild, RejectsLeavesThatOverlap) {
  const auto metadata = td_metadata({},
                                    {{"a", leaf_metadata("torch.uint8", {8}, 0, 8, 0)},
                                     {"b", leaf_metadata("torch.uint8", {8}, 4, 12, 0)}},
                                    plain_cls_metadata({}, {}));
  EXPECT_THROW(rebuild(metadata, at::ones({16}, at::kByte)), c10::ValueError);
}

TEST(Rebuild, RejectsOtherForms) {
  const auto storage = at::zeros({0}, at::kByte);
  const auto good = td_metadata({}, {}, plain_cls_metadata({}, {}));
  EXPECT_NO_THROW(rebuild(good, storage));
  for (const char* key : {"cls", "non_tensors", "leaves", "cls_metadata"}) {
    Value::Dict lacking;
    for (const auto& item : *good.get_if<Value::Dict>()) {
      if (!(item.first == Value(key))) {
        lacking.push_back(item);
      }
    }
    EXPECT_THROW(rebuild(lacking, storage), c10::ValueError) << key;
  }
  const auto leaf_outside_batch = td_metadata(
      {}, {{"a", leaf_metadata("torch.uint8", {0}, 0, 0, 0)}}, plain_cls_metadata({3}, {nullptr}));
  EXPECT_THROW(rebuild(leaf_outside_batch, storage), c10::ValueError);
  EXPECT_THROW(rebuild(td_metadata({{"s", "text"}}, {}, plain_cls_metadata({}, {})), storage),
               c10::ValueError);
  EXPECT_THROW(rebuild(td_metadata({}, {}, plain_cls_metadata({}, {"a", "b"})), storage),
               c10::ValueError);
  EXPECT_THROW(rebuild(Value("text"), storage), c10::ValueError);
  EXPECT_THROW(rebuild(good, at::zeros({2}, at::kInt)), c10::ValueError);
}

}  // namespace
}  // namespace tdref
