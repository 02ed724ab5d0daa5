// SPDX-License-Identifier: BSD-3-Clause
#include "operands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trees.h"

namespace tdref::testing {
namespace {

using Op = c10d::ReduceOp::RedOpType;

constexpr int kLength = 8;

// 0 or 1 for bool, in every combination of three ranks; else 1, 2 or 3, times the number of ranks
// for AVG, so that the quotient is whole.
int number(const Reducible& what, int place, int rank, int world_size) {
  if (what.dtype == at::kBool) {
    return (place >> rank) & 1;
  }
  return ((place + 2 * rank) % 3 + 1) * (what.op == Op::AVG ? world_size : 1);
}

int combine(Op op, int a, int b) {
  switch (op) {
    case Op::PRODUCT:
      return a * b;
    case Op::MIN:
      return std::min(a, b);
    case Op::MAX:
      return std::max(a, b);
    case Op::BAND:
      return a & b;
    case Op::BOR:
      return a | b;
    case Op::BXOR:
      return a ^ b;
    default:
      return a + b;
  }
}

int total(const Reducible& what, int place, int world_size) {
  int sum = number(what, place, 0, world_size);
  for (int rank = 1; rank < world_size; ++rank) {
    sum = combine(what.op, sum, number(what, place, rank, world_size));
  }
  return what.op == Op::AVG ? sum / world_size : sum;
}

// Complex numbers have their tenfold, negated, as imaginary part.
at::Tensor tensor_of(const std::vector<int>& numbers, at::ScalarType dtype) {
  const auto real = at::tensor(numbers).to(at::kDouble);
  return (at::isComplexType(dtype) ? at::complex(real, real * -10) : real).to(dtype);
}

}  // namespace

const std::vector<Reducible>& all_reducible() {
  static const auto all = [] {
    std::vector<Reducible> list;
    for (const auto op : {Op::SUM, Op::PRODUCT, Op::MIN, Op::MAX, Op::BAND, Op::BOR, Op::BXOR}) {
      for (const auto dtype : {at::kBool, at::kByte, at::kChar, at::kInt, at::kLong}) {
        list.push_back({op, dtype});
      }
    }
    for (const auto op : {Op::SUM, Op::AVG, Op::PRODUCT, Op::MIN, Op::MAX}) {
      for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
        list.push_back({op, dtype});
      }
    }
    for (const auto op : {Op::SUM, Op::AVG}) {
      for (const auto dtype : {at::kComplexHalf, at::kComplexFloat, at::kComplexDouble}) {
        list.push_back({op, dtype});
      }
    }
    return list;
  }();
  return all;
}

at::Tensor operand(const Reducible& what, int rank, int world_size) {
  std::vector<int> numbers;
  for (int place = 0; place < kLength; ++place) {
    numbers.push_back(number(what, place, rank, world_size));
  }
  return tensor_of(numbers, what.dtype);
}

at::Tensor result(const Reducible& what, int world_size) {
  std::vector<int> numbers;
  for (int place = 0; place < kLength; ++place) {
    numbers.push_back(total(what, place, world_size));
  }
  return tensor_of(numbers, what.dtype);
}

at::Tensor sum_of_ramps(int world_size, std::int64_t size) {
  return ramp(0, size) * world_size + world_size * (world_size + 1) / 2;
}

TensorDict leaves(int rank) {
  TensorDict td;
  td.set("d", at::full({1}, rank + 1, at::kLong));
  td.set("c", ramp(rank + 1, 6));
  td.set("b", ramp(rank + 1, 2));
  td.set("a", ramp(rank + 1, 2));
  return td;
}

void expect_sums(const TensorDict& td, int world_size) {
  EXPECT_TRUE(tensor_at(td, "a").equal(sum_of_ramps(world_size, 2)));
  EXPECT_TRUE(tensor_at(td, "b").equal(sum_of_ramps(world_size, 2)));
  EXPECT_TRUE(tensor_at(td, "c").equal(sum_of_ramps(world_size, 6)));
  EXPECT_TRUE(
      tensor_at(td, "d").equal(at::full({1}, world_size * (world_size + 1) / 2, at::kLong)));
}

const at::Tensor& tensor_at(const TensorDict& td, const char* key) {
  return td.get(key).tensor();
}

}  // namespace tdref::testing
