// SPDX-License-Identifier: BSD-3-Clause
#include "values/fill.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "values/fill_json.h"
#include "values/hex.h"

namespace tdconf {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string filled(const Fill& fill, std::string_view dtype, std::int64_t numel) {
  return encode_hex(fill_bytes(fill, dtype_named(dtype), numel));
}

TEST(Ramp, IntegersAreLittleEndian) {
  EXPECT_EQ(filled({Ramp{1, 1}}, "int16", 3), "010002000300");
  EXPECT_EQ(filled({Ramp{1, 1}}, "int32", 2), "0100000002000000");
  EXPECT_EQ(filled({Ramp{-1, 2}}, "int64", 2), "ffffffffffffffff0100000000000000");
}

TEST(Ramp, IntegersWrap) {
  EXPECT_EQ(filled({Ramp{254, 1}}, "uint8", 4), "feff0001");
  EXPECT_EQ(filled({Ramp{127, 1}}, "int8", 2), "7f80");
  EXPECT_EQ(filled({Ramp{65535, 1}}, "uint16", 2), "ffff0000");
  EXPECT_EQ(filled({Ramp{-1, 1}}, "uint64", 2), "ffffffffffffffff0000000000000000");
}

TEST(Ramp, BoolTakesTheLowestBit) {
  EXPECT_EQ(filled({Ramp{2, 1}}, "bool", 4), "00010001");
}

TEST(Ramp, FloatsAreIeee754) {
  // 1001 = 1.955078125 · 2^9: exponent 9 + 127 = 0x88, mantissa 0x7a4000.
  EXPECT_EQ(filled({Ramp{1001, 1}}, "float32", 1), "00407a44");
  EXPECT_EQ(filled({Ramp{1, 1}}, "float64", 2), "000000000000f03f0000000000000040");
  EXPECT_EQ(filled({Ramp{-1, 1}}, "float32", 2), "000080bf00000000");
}

TEST(Ramp, SmallFloatsAreEncodedExactly) {
  // float16: 1 = 0x3c00, 2 = 0x4000, 3 = 0x4200; bfloat16: 1 = 0x3f80, 2 = 0x4000, 3 = 0x4040.
  EXPECT_EQ(filled({Ramp{1, 1}}, "float16", 3), "003c00400042");
  EXPECT_EQ(filled({Ramp{1, 1}}, "bfloat16", 3), "803f00404040");
  // e4m3fn: bias 7, so 1 = 0x38, 2 = 0x40, 3 = 0x44; e5m2: bias 15, so 1 = 0x3c, 2 = 0x40, 3 =
  // 0x42.
  EXPECT_EQ(filled({Ramp{1, 1}}, "float8_e4m3fn", 3), "384044");
  EXPECT_EQ(filled({Ramp{1, 1}}, "float8_e5m2", 3), "3c4042");
  EXPECT_EQ(filled({Ramp{-1, 1}}, "float8_e4m3fn", 2), "b800");
}

TEST(Ramp, ComplexHasTheNegativeAsImaginaryPart) {
  EXPECT_EQ(filled({Ramp{1, 1}}, "complex64", 1), "0000803f000080bf");
  EXPECT_EQ(filled({Ramp{1, 1}}, "complex32", 1), "003c00bc");
  EXPECT_EQ(filled({Ramp{1, 1}}, "complex128", 1), "000000000000f03f000000000000f0bf");
  EXPECT_EQ(filled({Ramp{0, 1}}, "complex64", 1), "0000000000000000");
}

TEST(Ramp, RefusesWhatADtypeCannotRepresent) {
  EXPECT_THAT(
      [] {
        filled({Ramp{2049, 1}}, "float16", 1);
      },
      ThrowsMessage<std::invalid_argument>(
          "a fill gives 2049, which float16 cannot represent exactly"));
  EXPECT_THAT(
      [] {
        filled({Ramp{257, 1}}, "bfloat16", 1);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("257, which bfloat16")));
  EXPECT_THAT(
      [] {
        filled({Ramp{449, 1}}, "float8_e4m3fn", 1);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("449, which float8_e4m3fn")));
  EXPECT_THAT(
      [] {
        filled({Ramp{(1 << 24) + 1, 1}}, "float32", 1);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("16777217, which float32")));
}

TEST(Constant, LargestFiniteNumbersAreAccepted) {
  EXPECT_EQ(filled({Constant{65504}}, "float16", 1), "ff7b");
  EXPECT_EQ(filled({Constant{448}}, "float8_e4m3fn", 1), "7e");
  EXPECT_EQ(filled({Constant{57344}}, "float8_e5m2", 1), "7b");
}

TEST(Constant, NumbersAboveTheRangeAreRefused) {
  EXPECT_THROW(filled({Constant{65536}}, "float16", 1), std::invalid_argument);
  EXPECT_THROW(filled({Constant{480}}, "float8_e4m3fn", 1), std::invalid_argument);
  EXPECT_THROW(filled({Constant{65536}}, "float8_e5m2", 1), std::invalid_argument);
}

TEST(Constant, FractionsAndSubnormalsAreExact) {
  EXPECT_EQ(filled({Constant{0.5}}, "float16", 1), "0038");
  EXPECT_EQ(filled({Constant{0x1p-24}}, "float16", 1), "0100");
  EXPECT_EQ(filled({Constant{0x1p-9}}, "float8_e4m3fn", 1), "01");
  EXPECT_THROW(filled({Constant{0x1p-25}}, "float16", 1), std::invalid_argument);
  EXPECT_THROW(filled({Constant{0.1}}, "float32", 1), std::invalid_argument);
  EXPECT_THROW(filled({Constant{0.5}}, "int32", 1), std::invalid_argument);
}

TEST(Constant, ComplexHasNoImaginaryPart) {
  EXPECT_EQ(filled({Constant{2}}, "complex64", 2), "00000040000000000000004000000000");
}

TEST(Constant, BoolIsWhetherItDiffersFromZero) {
  EXPECT_EQ(filled({Constant{2}}, "bool", 2), "0101");
  EXPECT_EQ(filled({Constant{0}}, "bool", 2), "0000");
}

TEST(BitsFill, RepeatsThePattern) {
  EXPECT_EQ(filled({Bits{{0x00, 0x00, 0xc0, 0x7f}}}, "float32", 2), "0000c07f0000c07f");
  EXPECT_EQ(filled({Bits{{0x01, 0x02, 0x03}}}, "uint8", 5), "0102030102");
}

TEST(BitsFill, RefusesEmptyPatternsAndInvalidBools) {
  EXPECT_THROW(filled({Bits{}}, "uint8", 1), std::invalid_argument);
  EXPECT_THROW(filled({Bits{{2}}}, "bool", 1), std::invalid_argument);
}

// The expected bytes were computed from the formula in conformance/protocol/README.md with Python's
// arbitrary-precision integers.
TEST(ScrambleFill, MixesTheIndexOfTheByte) {
  EXPECT_EQ(filled({Scramble{0}}, "uint8", 8), "e291971d6e63bd63");
  EXPECT_EQ(filled({Scramble{1000}}, "float16", 4), "de55dea3075032ac");
}

TEST(ScrambleFill, BoolTakesTheLowestBit) {
  EXPECT_EQ(filled({Scramble{7}}, "uint8", 8), "bc1aa7fde3f9eece");
  EXPECT_EQ(filled({Scramble{7}}, "bool", 8), "0000010101010000");
}

TEST(Inverted, ComplementsEveryByte) {
  EXPECT_EQ(filled({Ramp{1, 1}, true}, "int32", 1), "feffffff");
  EXPECT_EQ(filled({Constant{1}, true}, "bool", 2), "0000");
  EXPECT_EQ(filled({Bits{{0x0f}}, true}, "uint8", 2), "f0f0");
}

TEST(EmptyTensor, HasNoBytes) {
  EXPECT_EQ(filled({Ramp{}}, "float32", 0), "");
  EXPECT_EQ(filled({Scramble{1}}, "bool", 0), "");
}

TEST(FillJson, RoundTrips) {
  for (const char* text : {R"({"ramp":{"start":-3,"step":2}})",
                           R"({"const":0.5,"invert":true})",
                           R"({"bits":"00ff"})",
                           R"({"scramble":1000})"}) {
    EXPECT_EQ(fill_to_json(fill_from_json(nlohmann::json::parse(text))).dump(), text);
  }
}

TEST(FillJson, RefusesWhatItDoesNotKnow) {
  for (const char* text : {R"({})",
                           R"({"ramp":[0,1]})",
                           R"({"ramp":{"start":0,"step":1,"stop":2}})",
                           R"({"const":true})",
                           R"({"bits":"0"})",
                           R"({"scramble":-1})",
                           R"({"const":1,"scramble":1})",
                           R"({"noise":1})",
                           R"({"const":1,"invert":1})",
                           R"("ramp")"}) {
    EXPECT_THROW(fill_from_json(nlohmann::json::parse(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace tdconf
