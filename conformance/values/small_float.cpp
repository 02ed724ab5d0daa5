// SPDX-License-Identifier: BSD-3-Clause
#include "values/small_float.h"

#include <cmath>

namespace tdconf {

std::optional<std::uint16_t> encode_exactly(double value, const SmallFloatFormat& format) {
  if (!std::isfinite(value)) return std::nullopt;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const unsigned highest_exponent = (1U << format.exponent_bits) - 1;
  const unsigned mantissa_mask = (1U << format.mantissa_bits) - 1;
  const unsigned sign =
      std::signbit(value) ? 1U << (format.exponent_bits + format.mantissa_bits) : 0U;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);

  // Subnormals share the exponent of the smallest normal number.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
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

}  // namespace tdconf
