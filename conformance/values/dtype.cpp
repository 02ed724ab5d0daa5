// SPDX-License-Identifier: BSD-3-Clause
#include "values/dtype.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "values/text.h"

namespace tdconf {
namespace {

constexpr std::array kDTypes{
    DType{"bool", 1, DTypeKind::kBool},
    DType{"uint8", 1, DTypeKind::kInteger},
    DType{"int8", 1, DTypeKind::kInteger},
    DType{"int16", 2, DTypeKind::kInteger},
    DType{"uint16", 2, DTypeKind::kInteger},
    DType{"int32", 4, DTypeKind::kInteger},
    DType{"uint32", 4, DTypeKind::kInteger},
    DType{"int64", 8, DTypeKind::kInteger},
    DType{"uint64", 8, DTypeKind::kInteger},
    DType{"float8_e4m3fn", 1, DTypeKind::kFloat},
    DType{"float8_e5m2", 1, DTypeKind::kFloat},
    DType{"float16", 2, DTypeKind::kFloat},
    DType{"bfloat16", 2, DTypeKind::kFloat},
    DType{"float32", 4, DTypeKind::kFloat},
    DType{"float64", 8, DTypeKind::kFloat},
    DType{"complex32", 4, DTypeKind::kComplex},
    DType{"complex64", 8, DTypeKind::kComplex},
    DType{"complex128", 16, DTypeKind::kComplex},
};

}  // namespace

std::span<const DType> all_dtypes() {
  return kDTypes;
}

const DType& dtype_named(std::string_view name) {
  const auto found = std::ranges::find(kDTypes, name, &DType::name);
  if (found != kDTypes.end()) return *found;
  std::array<std::string_view, kDTypes.size()> names;
  std::ranges::transform(kDTypes, names.begin(), &DType::name);
  throw std::invalid_argument(concat("unknown dtype `", name, "`, allowed: ", join(names, " ")));
}

bool is_scrambled_by_default(const DType& dtype) {
  switch (dtype.kind) {
    case DTypeKind::kBool:
      return true;
    case DTypeKind::kInteger:
      return false;
    case DTypeKind::kFloat:
      return dtype.size_bytes <= 2;
    case DTypeKind::kComplex:
      return dtype.size_bytes / 2 <= 2;
  }
  return false;
}

std::int64_t count_elements(std::span<const std::int64_t> shape) {
  // An implementation computes strides as if no dimension were empty.
  std::int64_t count_if_not_empty = 1;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw std::invalid_argument(concat("negative size ", size, " in shape"));
    is_empty = is_empty || size == 0;
    if (__builtin_mul_overflow(
            count_if_not_empty, std::max<std::int64_t>(size, 1), &count_if_not_empty)) {
      throw std::invalid_argument("a shape of more than 2^63 - 1 elements");
    }
  }
  return is_empty ? 0 : count_if_not_empty;
}

}  // namespace tdconf
