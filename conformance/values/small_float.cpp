// SPDX-License-Identifier: BSD-3-Clause
#include "values/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tdconf {
namespace {

std::uint16_t sign_of(double value, const SmallFloatFormat& format) {
  if (!std::signbit(value)) return 0;
  return static_cast<std::uint16_t>(1U << (format.exponent_bits + format.mantissa_bits));
}

int bias_of(const SmallFloatFormat& format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

/// Of a number that is not 0. Subnormals share the exponent of the smallest normal number.
int exponent_of(double magnitude, const SmallFloatFormat& format) {
  return std::max(std::ilogb(magnitude), 1 - bias_of(format));
}

/// The highest exponent, with the mantissa of an infinity or of a NaN.
std::uint16_t special(bool is_infinite, const SmallFloatFormat& format) {
  const unsigned all_exponent_bits = (1U << format.exponent_bits) - 1;
  const unsigned mantissa_mask = (1U << format.mantissa_bits) - 1;
  const unsigned quiet = format.has_infinity ? 1U << (format.mantissa_bits - 1) : mantissa_mask;
  const unsigned mantissa = is_infinite && format.has_infinity ? 0U : quiet;
  return static_cast<std::uint16_t>(all_exponent_bits << format.mantissa_bits | mantissa);
}

}  // namespace

const SmallFloatFormat& small_float_format(const DType& dtype) {
  if (dtype.name == "bfloat16") return kBFloat16;
  if (dtype.name == "float8_e5m2") return kFloat8E5M2;
  return dtype.name == "float8_e4m3fn" ? kFloat8E4M3FN : kFloat16;
}

std::optional<std::uint16_t> encode_exactly(double value, const SmallFloatFormat& format) {
  if (!std::isfinite(value)) return std::nullopt;
  const int bias = bias_of(format);
  const unsigned highest_exponent = (1U << format.exponent_bits) - 1;
  const unsigned mantissa_mask = (1U << format.mantissa_bits) - 1;
  const unsigned sign = sign_of(value, format);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);

  const int exponent = exponent_of(magnitude, format);
  const double scaled = std::ldexp(magnitude, format.mantissa_bits - exponent);
  if (scaled != std::floor(scaled)) return std::nullopt;
  const auto significand = static_cast<unsigned>(scaled);
  const bool is_normal = significand > mantissa_mask;
  if (exponent + bias > static_cast<int>(highest_exponent)) return std::nullopt;
  const unsigned exponent_field = is_normal ? static_cast<unsigned>(exponent + bias) : 0U;
  const unsigned mantissa_field = significand & mantissa_mask;
  const bool is_reserved = exponent_field == highest_exponent &&
                           (format.has_infinity || mantissa_field == mantissa_mask);
  if (is_reserved) return std::nullopt;
  return static_cast<std::uint16_t>(sign | exponent_field << format.mantissa_bits | mantissa_field);
}

std::uint16_t encode_rounded(double value, const SmallFloatFormat& format) {
  const std::uint16_t sign = sign_of(value, format);
  if (!std::isfinite(value)) return sign | special(std::isinf(value), format);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = exponent_of(magnitude, format);
  const double unit = std::ldexp(1.0, exponent - format.mantissa_bits);
  // Rounds to even, as nothing here changes the mode; may reach the next power of two, which is exact.
  const double rounded = std::nearbyint(magnitude / unit) * unit;
  const auto bits = encode_exactly(rounded, format);
  return sign | (bits ? *bits : special(true, format));
}

double decode_small(std::uint16_t bits, const SmallFloatFormat& format) {
  const int mantissa_mask = (1 << format.mantissa_bits) - 1;
  const int exponent_mask = (1 << format.exponent_bits) - 1;
  const int bias = exponent_mask >> 1;
  const int mantissa = bits & mantissa_mask;
  const int exponent = bits >> format.mantissa_bits & exponent_mask;
  const bool is_negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
  double magnitude = 0;
  if (exponent == exponent_mask && format.has_infinity) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == exponent_mask && mantissa == mantissa_mask) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  } else {
    magnitude = std::ldexp(mantissa + mantissa_mask + 1, exponent - bias - format.mantissa_bits);
  }
  return std::copysign(magnitude, is_negative ? -1.0 : 1.0);
}

}  // namespace tdconf
