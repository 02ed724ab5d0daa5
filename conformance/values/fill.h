// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <variant>

#include "values/dtype.h"

namespace tdconf {

/// Element i is the integer start + step·i.
struct Ramp {
  std::int64_t start = 0;
  std::int64_t step = 1;
  bool operator==(const Ramp&) const = default;
};

/// Every element is the same number.
struct Constant {
  std::variant<std::int64_t, double> value = std::int64_t{0};
  bool operator==(const Constant&) const = default;
};

/// These bytes, repeated until the tensor is full.
struct Bits {
  Bytes pattern;
  bool operator==(const Bits&) const = default;
};

/// Byte k is the top byte of a 64-bit mix of seed·2^32 + k.
struct Scramble {
  std::uint64_t seed = 0;
  bool operator==(const Scramble&) const = default;
};

/// The closed formula that gives the elements of one tensor.
struct Fill {
  std::variant<Ramp, Constant, Bits, Scramble> formula;
  bool invert = false;
  bool operator==(const Fill&) const = default;
};

/// Returns the elements in row-major order, little-endian.
///
/// Order   integers wrap; bool takes the lowest bit; a complex ramp has the negative integer as
///         imaginary part, a complex constant has 0.
/// Errors  std::invalid_argument: a number that the dtype cannot represent exactly, an empty bit
///         pattern, a bit pattern for bool with bytes other than 00 and 01.
Bytes fill_bytes(const Fill& fill, const DType& dtype, std::int64_t numel);

/// Returns the fill that gives exactly these elements.
Fill fill_with(Bytes elements);

/// Complements every byte, for bool the lowest bit of every byte.
void invert_bytes(Bytes& bytes, const DType& dtype);

}  // namespace tdconf
