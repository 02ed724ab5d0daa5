// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "values/dtype.h"

namespace tdconf {

/// Layout of a floating type below 32 bits: one sign bit, then the exponent, then the mantissa.
struct SmallFloatFormat {
  int exponent_bits;
  int mantissa_bits;
  /// True for IEEE 754, where the highest exponent holds infinities and NaNs; false for the `fn`
  /// formats, which give up infinities and keep only the all-ones pattern as NaN.
  bool has_infinity;
};

inline constexpr SmallFloatFormat kFloat16{5, 10, true};
inline constexpr SmallFloatFormat kBFloat16{8, 7, true};
inline constexpr SmallFloatFormat kFloat8E4M3FN{4, 3, false};
inline constexpr SmallFloatFormat kFloat8E5M2{5, 2, true};

/// Returns the format of a floating dtype below 32 bits, or of the parts of such a complex one.
const SmallFloatFormat& small_float_format(const DType& dtype);

/// Returns the bits of `value`, or nothing when the format cannot represent it exactly.
std::optional<std::uint16_t> encode_exactly(double value, const SmallFloatFormat& format);

/// Returns the bits of the nearest number of the format, of two that are as near the even one; what
/// is too large becomes infinite, or a NaN where there are no infinities.
std::uint16_t encode_rounded(double value, const SmallFloatFormat& format);

/// Returns the number that the bits stand for.
double decode_small(std::uint16_t bits, const SmallFloatFormat& format);

}  // namespace tdconf
