// SPDX-License-Identifier: BSD-3-Clause
#include "plan/reducible.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <array>

namespace tdref {
namespace {

using Op = c10d::ReduceOp::RedOpType;

constexpr std::array<std::pair<Op, const char*>, 8> kNames{{{Op::SUM, "SUM"},
                                                            {Op::AVG, "AVG"},
                                                            {Op::PRODUCT, "PRODUCT"},
                                                            {Op::MIN, "MIN"},
                                                            {Op::MAX, "MAX"},
                                                            {Op::BAND, "BAND"},
                                                            {Op::BOR, "BOR"},
                                                            {Op::BXOR, "BXOR"}}};

/// Dtypes that have the same operations.
struct Family {
  std::vector<at::ScalarType> dtypes;
  std::vector<Op> ops;
};

const std::vector<Family>& strided_families() {
  static const std::vector<Family> families{
      {{at::kBool, at::kByte, at::kChar, at::kInt, at::kLong},
       {Op::SUM, Op::PRODUCT, Op::MIN, Op::MAX, Op::BAND, Op::BOR, Op::BXOR}},
      {{at::kHalf, at::kBFloat16, at::kFloat, at::kDouble},
       {Op::SUM, Op::AVG, Op::PRODUCT, Op::MIN, Op::MAX}},
      {{at::kComplexHalf, at::kComplexFloat, at::kComplexDouble}, {Op::SUM, Op::AVG}}};
  return families;
}

const std::vector<Family>& sparse_families() {
  static const std::vector<Family> families{
      {{at::kByte, at::kChar, at::kInt, at::kLong, at::kBFloat16, at::kFloat, at::kDouble},
       {Op::SUM}}};
  return families;
}

template <typename T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string name_of(at::ScalarType dtype) {
  return std::string(c10::getDtypeNames(dtype).first);
}

// What could be passed instead of this operation, or instead of this dtype.
std::string allowed(const std::vector<Family>& families, at::ScalarType dtype) {
  for (const auto& family : families) {
    if (contains(family.dtypes, dtype)) {
      std::string ops;
      for (const auto op : family.ops) {
        ops += (ops.empty() ? "" : ", ") + to_string(op);
      }
      return c10::str("allowed for ", name_of(dtype), " are ", ops);
    }
  }
  std::string dtypes;
  for (const auto& family : families) {
    for (const auto other : family.dtypes) {
      dtypes += (dtypes.empty() ? "" : ", ") + name_of(other);
    }
  }
  return "allowed are leaves of " + dtypes;
}

void check_place(const ReducedLeaf& leaf, Reduces reduces) {
  const auto& tensor = leaf.first();
  const bool is_sparse = tensor.layout() == at::kSparse;
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.device().is_cpu() && !tensor.is_nested() && !tensor.is_quantized() &&
          (tensor.layout() == at::kStrided ||
           (is_sparse && reduces == Reduces::kOnAllRanks && !leaf.is_stacked())),
      "leaf ",
      to_string(leaf.key),
      " cannot be reduced: it has layout ",
      tensor.layout(),
      ", device ",
      tensor.device(),
      " and dtype ",
      tensor.dtype(),
      "; allowed are strided tensors on the CPU that are not quantized",
      reduces == Reduces::kOnAllRanks ? ", and sparse ones" : "");
}

void check_op(const ReducedLeaf& leaf, const c10d::ReduceOp& op) {
  const auto dtype = leaf.first().scalar_type();
  const bool is_sparse = leaf.first().layout() == at::kSparse;
  const auto& families = is_sparse ? sparse_families() : strided_families();
  const bool is_allowed = std::any_of(families.begin(), families.end(), [&](const Family& family) {
    return contains(family.dtypes, dtype) && contains(family.ops, op.op_);
  });
  TORCH_CHECK_NOT_IMPLEMENTED(is_allowed,
                              "leaf ",
                              to_string(leaf.key),
                              is_sparse ? ", which is sparse," : "",
                              " cannot be reduced with ",
                              to_string(op),
                              ": its dtype is ",
                              name_of(dtype),
                              "; ",
                              allowed(families, dtype));
}

void check_unshared(const ReducedLeaf& leaf) {
  TORCH_CHECK_VALUE(leaf.is_stacked() || leaf.first().layout() != at::kStrided ||
                        at::has_internal_overlap(leaf.first()) != at::MemOverlap::Yes,
                    "leaf ",
                    to_string(leaf.key),
                    " cannot be reduced in place: its elements share memory; clone it first");
}

}  // namespace

std::string to_string(const c10d::ReduceOp& op) {
  const auto* place = std::find_if(
      kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == op.op_; });
  TORCH_CHECK_VALUE(place != kNames.end(),
                    "this operation is not supported; allowed are SUM, AVG, PRODUCT, MIN, MAX, "
                    "BAND, BOR and BXOR");
  return place->second;
}

void check_reducible(const ReducedLeaf& leaf, const c10d::ReduceOp& op, Reduces reduces) {
  check_place(leaf, reduces);
  check_op(leaf, op);
  check_unshared(leaf);
}

}  // namespace tdref
