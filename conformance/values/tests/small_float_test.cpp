// SPDX-License-Identifier: BSD-3-Clause
#include "values/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tdconf {
namespace {

class EachFormat : public ::testing::TestWithParam<SmallFloatFormat> {
 protected:
  int patterns() const { return 1 << (1 + GetParam().exponent_bits + GetParam().mantissa_bits); }
};

TEST_P(EachFormat, EveryNumberComesBackWithItsBits) {
  int finite = 0;
  for (int bits = 0; bits < patterns(); ++bits) {
    const double value = decode_small(static_cast<std::uint16_t>(bits), GetParam());
    if (!std::isfinite(value)) continue;
    ++finite;
    EXPECT_EQ(encode_exactly(value, GetParam()), bits);
    EXPECT_EQ(encode_rounded(value, GetParam()), bits);
  }
  // Without infinities only one mantissa of the highest exponent, with each sign, is no number.
  const int others = GetParam().has_infinity ? 2 << GetParam().mantissa_bits : 2;
  EXPECT_EQ(finite, patterns() - others);
}

TEST_P(EachFormat, WhatLiesBetweenTwoNumbersGoesToTheNearerOrTheEvenOne) {
  // From the smallest number on, with 0 before it: subnormal and normal ones, powers of two too.
  for (int bits = 0; bits + 1 < patterns() / 2; ++bits) {
    const double low = decode_small(static_cast<std::uint16_t>(bits), GetParam());
    const double high = decode_small(static_cast<std::uint16_t>(bits + 1), GetParam());
    if (!std::isfinite(high)) break;
    const double middle = (low + high) / 2;
    EXPECT_EQ(encode_rounded(middle, GetParam()), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(encode_rounded(std::nextafter(middle, low), GetParam()), bits);
    EXPECT_EQ(encode_rounded(std::nextafter(middle, high), GetParam()), bits + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(SmallFloats,
                         EachFormat,
                         ::testing::Values(kFloat16, kBFloat16, kFloat8E4M3FN, kFloat8E5M2));

TEST(SmallFloats, WhatIsTooLargeIsInfiniteOrNoNumber) {
  EXPECT_EQ(encode_rounded(65520, kFloat16), 0x7c00);
  EXPECT_EQ(encode_rounded(-1e9, kFloat16), 0xfc00);
  EXPECT_EQ(encode_rounded(65519, kFloat16), 0x7bff);
  EXPECT_EQ(encode_rounded(1e9, kFloat8E4M3FN), 0x7f);
  EXPECT_TRUE(std::isnan(decode_small(encode_rounded(NAN, kBFloat16), kBFloat16)));
}

TEST(SmallFloats, HaveTheFormatOfTheirDType) {
  EXPECT_EQ(small_float_format(dtype_named("complex32")).mantissa_bits, 10);
  EXPECT_EQ(small_float_format(dtype_named("bfloat16")).mantissa_bits, 7);
  EXPECT_EQ(small_float_format(dtype_named("float8_e4m3fn")).exponent_bits, 4);
  EXPECT_EQ(small_float_format(dtype_named("float8_e5m2")).exponent_bits, 5);
}

}  // namespace
}  // namespace tdconf
