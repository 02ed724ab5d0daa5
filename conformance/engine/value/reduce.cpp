// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/reduce.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>
#include <stdexcept>

#include "engine/value/real.h"
#include "values/text.h"

namespace tdconf {
namespace {

using enum ReduceOp;

const std::vector<std::string> kNames{"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};

/// Elements of one dtype, read so that nothing is lost.
using Element = std::complex<double>;

bool is_bitwise(ReduceOp op) {
  return op == kBand || op == kBor || op == kBxor;
}

bool has_meaning(ReduceOp op, const DType& dtype) {
  switch (dtype.kind) {
    case DTypeKind::kBool:
    case DTypeKind::kInteger:
      return op != kAvg;
    case DTypeKind::kFloat:
      return !is_bitwise(op);
    case DTypeKind::kComplex:
      return op == kSum || op == kAvg || op == kProduct;
  }
  return false;
}

std::uint8_t combine_bools(std::uint8_t a, std::uint8_t b, ReduceOp op) {
  if (op == kBxor) return a ^ b;
  return op == kProduct || op == kMin || op == kBand ? a & b : a | b;
}

/// Works modulo 2^64, so that the low bytes of the result are those of any smaller integer.
std::uint64_t combine_integers(std::uint64_t a, std::uint64_t b, ReduceOp op, bool is_signed) {
  const bool is_less =
      is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  switch (op) {
    case kProduct:
      return a * b;
    case kMin:
      return is_less ? a : b;
    case kMax:
      return is_less ? b : a;
    case kBand:
      return a & b;
    case kBor:
      return a | b;
    case kBxor:
      return a ^ b;
    default:
      return a + b;
  }
}

double combine_reals(double a, double b, ReduceOp op) {
  switch (op) {
    case kProduct:
      return a * b;
    case kMin:
      return std::min(a, b);
    case kMax:
      return std::max(a, b);
    default:
      return a + b;
  }
}

/// Reads an integer with its sign in all 64 bits.
std::uint64_t load_integer(std::span<const std::uint8_t> bytes, bool is_signed) {
  const bool is_negative = is_signed && (bytes.back() & 0x80) != 0;
  std::uint64_t value = is_negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

/// The elements of one tensor of all ranks.
class Reduction {
 public:
  Reduction(const DType& dtype, ReduceOp op, std::size_t ranks)
      : dtype_(dtype), op_(op), ranks_(ranks), is_signed_(!dtype.name.starts_with("u")) {}

  Bytes run(const std::vector<Bytes>& rows) const {
    Bytes result = rows.front();
    for (std::size_t row = 1; row < rows.size(); ++row) result = combine(result, rows[row]);
    return op_ == kAvg ? divided(result) : result;
  }

 private:
  Bytes combine(const Bytes& a, const Bytes& b) const {
    Bytes result;
    for (std::size_t at = 0; at < a.size(); at += dtype_.size_bytes) {
      combine_elements(std::span(a).subspan(at, dtype_.size_bytes),
                       std::span(b).subspan(at, dtype_.size_bytes),
                       result);
    }
    return result;
  }

  void combine_elements(std::span<const std::uint8_t> a,
                        std::span<const std::uint8_t> b,
                        Bytes& result) const {
    switch (dtype_.kind) {
      case DTypeKind::kBool:
        return result.push_back(combine_bools(a[0], b[0], op_));
      case DTypeKind::kInteger:
        return append_integer(
            combine_integers(
                load_integer(a, is_signed_), load_integer(b, is_signed_), op_, is_signed_),
            result);
      case DTypeKind::kFloat:
        return append_real(
            result, combine_reals(read_real(a, dtype_), read_real(b, dtype_), op_), dtype_);
      case DTypeKind::kComplex:
        return append_complex(
            op_ == kProduct ? load_complex(a) * load_complex(b) : load_complex(a) + load_complex(b),
            result);
    }
  }

  void append_integer(std::uint64_t value, Bytes& result) const {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
    result.insert(result.end(), begin, begin + dtype_.size_bytes);
  }

  Element load_complex(std::span<const std::uint8_t> bytes) const {
    const std::size_t half = bytes.size() / 2;
    return {read_real(bytes.first(half), dtype_), read_real(bytes.last(half), dtype_)};
  }

  void append_complex(const Element& element, Bytes& result) const {
    append_real(result, element.real(), dtype_);
    append_real(result, element.imag(), dtype_);
  }

  /// A floating number is one part, a complex number two, and each is divided by itself.
  Bytes divided(const Bytes& sum) const {
    const std::size_t part =
        dtype_.kind == DTypeKind::kComplex ? dtype_.size_bytes / 2 : dtype_.size_bytes;
    Bytes result;
    for (std::size_t at = 0; at < sum.size(); at += part) {
      const double value = read_real(std::span(sum).subspan(at, part), dtype_);
      append_real(result, value / static_cast<double>(ranks_), dtype_);
    }
    return result;
  }

  const DType& dtype_;
  ReduceOp op_;
  std::size_t ranks_;
  bool is_signed_;
};

std::string paths_of(const Tree& tree) {
  std::vector<std::string> paths;
  for_each_tensor(tree,
                  [&](const Path& path, const TensorLeaf&) { paths.push_back(dotted(path)); });
  std::ranges::sort(paths);
  return concat("[", join(paths, ", "), "]");
}

/// Errors  std::invalid_argument: there is no such tensor, or one of another dtype or shape.
const TensorLeaf& counterpart(const Tree& value, const Path& path, const TensorLeaf& own) {
  const TensorLeaf* leaf = find_tensor(value, path);
  const char* difference = nullptr;
  if (leaf == nullptr) {
    difference = "keys";
  } else if (leaf->dtype != own.dtype) {
    difference = "dtype";
  } else if (leaf->shape != own.shape) {
    difference = "shape";
  }
  if (difference != nullptr) {
    throw std::invalid_argument(
        concat("cannot reduce: the values differ in ", difference, " at `", dotted(path), "`"));
  }
  return *leaf;
}

}  // namespace

const std::vector<std::string>& reduce_op_names() {
  return kNames;
}

ReduceOp reduce_op_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw std::invalid_argument(concat("unknown op `", name, "`, allowed: ", join(kNames, ", ")));
  }
  return static_cast<ReduceOp>(found - kNames.begin());
}

Tree reduced(const Tree& own, const std::vector<TreePtr>& values, ReduceOp op) {
  const std::string paths = paths_of(own);
  for (const TreePtr& value : values) {
    if (paths_of(*value) == paths) continue;
    throw std::invalid_argument(
        concat("cannot reduce: the values differ in keys: ", paths, " and ", paths_of(*value)));
  }
  return with_tensors(own, [&](const Path& path, const TensorLeaf& leaf) {
    if (!has_meaning(op, *leaf.dtype)) {
      throw std::invalid_argument(concat(kNames.at(static_cast<std::size_t>(op)),
                                         " has no meaning for ",
                                         leaf.dtype->name,
                                         ", the dtype of `",
                                         dotted(path),
                                         "`"));
    }
    std::vector<Bytes> rows;
    for (const TreePtr& value : values) rows.push_back(counterpart(*value, path, leaf).bytes());
    const Bytes bytes = Reduction(*leaf.dtype, op, rows.size()).run(rows);
    TensorLeaf result = leaf;
    result.parts = {{fill_with(bytes), count_elements(leaf.shape)}};
    return result;
  });
}

}  // namespace tdconf
