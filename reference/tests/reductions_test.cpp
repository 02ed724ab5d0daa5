// SPDX-License-Identifier: BSD-3-Clause
#include "plan/reductions.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/persistent.h>

#include "plan/reducible.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Throws;
using ::testing::ThrowsMessage;

std::vector<KeyPath> keys_of(const std::vector<ReducedLeaf>& leaves) {
  std::vector<KeyPath> keys;
  for (const auto& leaf : leaves) {
    keys.push_back(leaf.key);
  }
  return keys;
}

// The keys of each bucket; every key has one component.
std::vector<std::string> joined(const std::vector<Bucket>& buckets) {
  std::vector<std::string> keys;
  for (const auto& bucket : buckets) {
    keys.emplace_back();
    for (const auto& leaf : bucket) {
      keys.back() += leaf.key.front();
    }
  }
  return keys;
}

std::vector<std::string> buckets_of(const TensorDict& td, std::optional<std::int64_t> bytes) {
  return joined(plan_buckets(plan_reductions(td, LazyStacks::kStacked), bytes));
}

TensorDict row(int first) {
  TensorDict nested({2});
  nested.set("x", testing::ramp(first + 10, 2));
  TensorDict td({2});
  td.set("n", nested);
  td.set("a", testing::ramp(first, 6).view({2, 3}));
  td.set("text", NonTensor{"not a leaf"});
  return td;
}

TEST(PlanReductions, VisitsSortedKeysAndNestedTensordictsInTheirPlace) {
  TensorDict nested;
  nested.set("z", at::zeros({1}));
  nested.set("y", at::zeros({0}));
  TensorDict td;
  td.set("a0", at::zeros({1}));
  td.set("a", TensorClass({"module", "Class"}, nested));
  td.set("text", NonTensor{"not a leaf"});
  td.set("B", at::zeros({1}));
  for (const auto stacks : {LazyStacks::kMemberByMember, LazyStacks::kStacked}) {
    EXPECT_THAT(keys_of(plan_reductions(td, stacks)),
                ElementsAre(KeyPath{"B"}, KeyPath{"a", "y"}, KeyPath{"a", "z"}, KeyPath{"a0"}));
  }
}

TEST(PlanReductions, TakesALazyStackMemberByMember) {
  TensorDict other({2});
  other.set("only_here", at::zeros({2}));
  const LazyStackedTensorDict stack({row(1), other});
  EXPECT_THAT(keys_of(plan_reductions(stack, LazyStacks::kMemberByMember)),
              ElementsAre(KeyPath{"0", "a"}, KeyPath{"0", "n", "x"}, KeyPath{"1", "only_here"}));
}

TEST(PlanReductions, TakesALazyStackAsTheDenseTensordict) {
  const LazyStackedTensorDict inner({row(1), row(2)}, 1);
  const LazyStackedTensorDict stack({inner, inner, inner}, 0);
  const auto leaves = plan_reductions(stack, LazyStacks::kStacked);
  ASSERT_THAT(keys_of(leaves), ElementsAre(KeyPath{"a"}, KeyPath{"n", "x"}));
  EXPECT_THAT(leaves[0].shape, ElementsAre(3, 2, 2, 3));
  EXPECT_THAT(leaves[1].shape, ElementsAre(3, 2, 2));
  EXPECT_EQ(leaves[0].nbytes(), 3 * 2 * 2 * 3 * 4);
  EXPECT_TRUE(leaves[0].is_stacked());
  ASSERT_EQ(leaves[0].parts.size(), 6U);
  // The second part is member 1 of the inner stack, in member 0 of the outer one.
  const auto& part = leaves[0].parts[1];
  EXPECT_TRUE(part.tensor.equal(row(2).get("a").tensor()));
  ASSERT_EQ(part.place.size(), 2U);
  EXPECT_EQ(part.place[0].dim, 0);
  EXPECT_EQ(part.place[0].index, 0);
  EXPECT_EQ(part.place[1].dim, 1);
  EXPECT_EQ(part.place[1].index, 1);
}

TEST(PlanReductions, SeesWhichLeavesLieInOneMemory) {
  const auto all = at::zeros({10});
  TensorDict inner({2});
  inner.set("x", all.narrow(0, 6, 2));
  TensorDict td({2});
  td.set("a", all.narrow(0, 0, 2));
  td.set("b", all.narrow(0, 1, 4).slice(0, 0, 4, 2));
  td.set("c", all.narrow(0, 4, 2));
  td.set("d", at::zeros({2, 0}));
  td.set("e", all.narrow(0, 7, 2));
  td.set("s", LazyStackedTensorDict({inner}, 1));
  std::vector<bool> shared;
  for (const auto& leaf : plan_reductions(td, LazyStacks::kStacked)) {
    shared.push_back(leaf.shares_memory);
  }
  EXPECT_THAT(shared, ElementsAre(true, true, false, false, true, true));
}

TEST(PlanReductions, RefusesMembersThatDoNotStack) {
  const auto plan = [](const TensorDict& second) {
    TensorDict first;
    first.set("a", testing::ramp(1, 2));
    plan_reductions(LazyStackedTensorDict({first, second}), LazyStacks::kStacked);
  };
  TensorDict other_key;
  other_key.set("b", testing::ramp(1, 2));
  TensorDict other_shape;
  other_shape.set("a", testing::ramp(1, 3));
  TensorDict other_dtype;
  other_dtype.set("a", at::zeros({2}, at::kInt));
  EXPECT_THAT([&] { plan(other_key); },
              ThrowsMessage<c10::Error>(HasSubstr("member 1 has 'b', member 0 has 'a'")));
  EXPECT_THAT([&] { plan(other_shape); },
              ThrowsMessage<c10::Error>(HasSubstr("member 1 has shape [3]")));
  EXPECT_THAT([&] { plan(other_dtype); }, ThrowsMessage<c10::Error>(HasSubstr("dtype int")));
}

TEST(PlanReductions, RefusesJaggedLeaves) {
  TensorDict td;
  td.set("j", Jagged{.values = at::zeros({3}), .offsets = at::tensor({0, 3})});
  EXPECT_THROW(plan_reductions(td, LazyStacks::kStacked), c10::NotImplementedError);
}

// {a: 8 bytes, b: 8 bytes, c: 8 bytes of another dtype, d: 20 bytes, e: 0 bytes, f: 4 bytes}
TensorDict sizes() {
  TensorDict td;
  td.set("a", at::zeros({2}));
  td.set("b", at::zeros({2}));
  td.set("c", at::zeros({1}, at::kLong));
  td.set("d", at::zeros({5}));
  td.set("e", at::zeros({0}));
  td.set("f", at::zeros({1}));
  return td;
}

TEST(PlanBuckets, WithoutBucketBytesEachLeafIsOne) {
  EXPECT_THAT(buckets_of(sizes(), std::nullopt), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST(PlanBuckets, PacksTheLeavesOfADtypeIntoAtMostBucketBytes) {
  EXPECT_THAT(buckets_of(sizes(), 16), ElementsAre("ab", "d", "ef", "c"));
  EXPECT_THAT(buckets_of(sizes(), 15), ElementsAre("a", "b", "d", "ef", "c"));
  EXPECT_THAT(buckets_of(sizes(), 20), ElementsAre("ab", "de", "f", "c"));
  EXPECT_THAT(buckets_of(sizes(), 40), ElementsAre("abdef", "c"));
  EXPECT_THAT(buckets_of(sizes(), 1), ElementsAre("a", "b", "d", "e", "f", "c"));
}

TEST(PlanBuckets, NeverPacksWhatIsNotContiguousOrNotStrided) {
  auto td = sizes();
  td.set("b", testing::ramp(1, 4).view({2, 2}).t());
  td.set("f", at::zeros({2}).to_sparse());
  EXPECT_THAT(buckets_of(td, 1000), ElementsAre("b", "f", "ade", "c"));
}

TEST(PlanBuckets, PacksStackedLeaves) {
  TensorDict td({2});
  td.set("a", testing::ramp(1, 2));
  td.set("s", LazyStackedTensorDict({row(1), row(5)}));
  EXPECT_THAT(buckets_of(td, 1000), ElementsAre("ass"));
}

TEST(PlanBuckets, RefusesASizeThatIsNotPositive) {
  EXPECT_THROW(plan_buckets({}, 0), c10::ValueError);
  EXPECT_THROW(plan_buckets({}, -1), c10::ValueError);
  EXPECT_THAT(plan_buckets({}, 1), IsEmpty());
}

void check(const at::Tensor& tensor,
           const c10d::ReduceOp& op = c10d::ReduceOp::SUM,
           Reduces reduces = Reduces::kOnAllRanks) {
  TensorDict td;
  td.set("a", tensor);
  check_reducible(plan_reductions(td, LazyStacks::kStacked).front(), op, reduces);
}

// From the table of measured behaviour, written as who has which operation.
TEST(CheckReducible, AllowsWhatGlooDoesRight) {
  using Op = c10d::ReduceOp::RedOpType;
  const std::set<at::ScalarType> integers{at::kBool, at::kByte, at::kChar, at::kInt, at::kLong};
  const std::set<at::ScalarType> floats{at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  const std::set<at::ScalarType> complexes{at::kComplexHalf, at::kComplexFloat, at::kComplexDouble};
  const std::set<Op> bitwise{Op::BAND, Op::BOR, Op::BXOR};
  for (const auto dtype : {at::kBool,
                           at::kByte,
                           at::kChar,
                           at::kShort,
                           at::kUInt16,
                           at::kInt,
                           at::kUInt32,
                           at::kLong,
                           at::kUInt64,
                           at::kHalf,
                           at::kBFloat16,
                           at::kFloat,
                           at::kDouble,
                           at::kComplexHalf,
                           at::kComplexFloat,
                           at::kComplexDouble,
                           at::kFloat8_e5m2,
                           at::kFloat8_e4m3fn,
                           at::kFloat8_e5m2fnuz,
                           at::kFloat8_e4m3fnuz}) {
    for (const auto op :
         {Op::SUM, Op::AVG, Op::PRODUCT, Op::MIN, Op::MAX, Op::BAND, Op::BOR, Op::BXOR}) {
      const bool allowed = (integers.count(dtype) != 0 && op != Op::AVG) ||
                           (floats.count(dtype) != 0 && bitwise.count(op) == 0) ||
                           (complexes.count(dtype) != 0 && (op == Op::SUM || op == Op::AVG));
      for (const auto reduces : {Reduces::kOnAllRanks, Reduces::kOnOneRank}) {
        const auto look = [&] { check(at::empty({2}, dtype), op, reduces); };
        if (allowed) {
          EXPECT_NO_THROW(look()) << dtype << ' ' << to_string(op);
        } else {
          EXPECT_THAT(look, Throws<c10::NotImplementedError>()) << dtype << ' ' << to_string(op);
        }
      }
    }
  }
}

TEST(CheckReducible, SaysWhatIsAllowed) {
  EXPECT_THAT([] { check(at::zeros({2}, at::kInt), c10d::ReduceOp::AVG); },
              ThrowsMessage<c10::NotImplementedError>(
                  HasSubstr("leaf 'a' cannot be reduced with AVG: its dtype is int32; allowed for "
                            "int32 are SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR")));
  EXPECT_THAT([] { check(at::zeros({2}, at::kShort)); },
              ThrowsMessage<c10::NotImplementedError>(
                  HasSubstr("leaf 'a' cannot be reduced with SUM: its dtype is int16; allowed are "
                            "leaves of bool, uint8, int8, int32, int64, float16, bfloat16, "
                            "float32, float64, complex32, complex64, complex128")));
}

TEST(CheckReducible, AllowsSparseLeavesOnAllRanksAlone) {
  const auto sparse = at::ones({2}).to_sparse();
  EXPECT_NO_THROW(check(sparse));
  EXPECT_THROW(check(sparse, c10d::ReduceOp::MAX), c10::NotImplementedError);
  EXPECT_THROW(check(sparse, c10d::ReduceOp::SUM, Reduces::kOnOneRank), c10::NotImplementedError);
  // Adding complex sparse tensors does nothing and says so to nobody.
  EXPECT_THROW(check(at::ones({2}, at::kComplexFloat).to_sparse()), c10::NotImplementedError);
  EXPECT_THROW(check(at::ones({2, 2}).to_sparse_csr()), c10::NotImplementedError);
}

TEST(CheckReducible, RefusesWhatHasNoElementsOfItsOwn) {
  EXPECT_THROW(check(at::ones({2}, at::kMeta)), c10::NotImplementedError);
  EXPECT_THROW(check(at::quantize_per_tensor(at::ones({2}), 1.0, 0, at::kQUInt8)),
               c10::NotImplementedError);
  EXPECT_THROW(check(at::ones({1}).expand({3})), c10::ValueError);
}

TEST(CheckReducible, RefusesAnUnknownOperation) {
  EXPECT_THROW(check(at::ones({2}), c10d::ReduceOp::UNUSED), c10::ValueError);
}

}  // namespace
}  // namespace tdref
