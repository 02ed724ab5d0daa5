// SPDX-License-Identifier: BSD-3-Clause
#include "values/dtype.h"

#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>

namespace tdconf {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DTypeTable, KnowsSizes) {
  EXPECT_EQ(dtype_named("bool").size_bytes, 1U);
  EXPECT_EQ(dtype_named("float8_e5m2").size_bytes, 1U);
  EXPECT_EQ(dtype_named("bfloat16").size_bytes, 2U);
  EXPECT_EQ(dtype_named("complex32").size_bytes, 4U);
  EXPECT_EQ(dtype_named("complex128").size_bytes, 16U);
}

TEST(DTypeTable, UnknownNameListsWhatIsAllowed) {
  EXPECT_THAT(
      [] { dtype_named("float"); },
      ThrowsMessage<std::invalid_argument>(
          AllOf(HasSubstr("unknown dtype `float`, allowed: bool uint8"), HasSubstr("complex128"))));
}

TEST(DTypeTable, ScramblesBoolAndSmallFloats) {
  for (const DType& dtype : all_dtypes()) {
    const bool expected = dtype.name == "bool" || dtype.name == "float16" ||
                          dtype.name == "bfloat16" || dtype.name == "float8_e4m3fn" ||
                          dtype.name == "float8_e5m2" || dtype.name == "complex32";
    EXPECT_EQ(is_scrambled_by_default(dtype), expected) << dtype.name;
  }
}

TEST(CountElements, MultipliesSizes) {
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(count_elements(Shape{}), 1);
  EXPECT_EQ(count_elements(Shape{2, 3}), 6);
  EXPECT_EQ(count_elements(Shape{2, 0, 3}), 0);
  EXPECT_THROW(count_elements(Shape{2, -1}), std::invalid_argument);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(count_elements(Shape{kMax, 2}), std::invalid_argument);
  EXPECT_THROW(count_elements(Shape{0, kMax, kMax}), std::invalid_argument);
}

}  // namespace
}  // namespace tdconf
