// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <tdref/value.h>

namespace tdref {
namespace {

TEST(Value, DictsCompareInAnyOrder) {
  const Value a = Value::Dict{{"x", 1}, {"y", 2}};
  const Value b = Value::Dict{{"y", 2}, {"x", 1}};
  const Value c = Value::Dict{{"y", 1}, {"x", 2}};
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a == c);
}

TEST(Value, TypesThatPythonFindsEqualDiffer) {
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value(1) == Value(true));
  EXPECT_FALSE(Value(Value::List{1}) == Value(Value::Tuple{{1}}));
  EXPECT_EQ(Value(), Value(nullptr));
}

TEST(Value, FindsTheItemOfADict) {
  const Value dict = Value::Dict{{1, "number"}, {"key", "text"}};
  ASSERT_NE(dict.find("key"), nullptr);
  EXPECT_EQ(*dict.find("key"), Value("text"));
  EXPECT_EQ(dict.find("1"), nullptr);
  EXPECT_EQ(Value(3).find("key"), nullptr);
}

TEST(Value, ListsAndTuplesAreSequences) {
  EXPECT_EQ(Value(Value::List{1, 2}).sequence()->size(), 2U);
  EXPECT_EQ(Value(Value::Tuple{{1, 2, 3}}).sequence()->size(), 3U);
  EXPECT_EQ(Value("text").sequence(), nullptr);
}

TEST(Value, NamesThePythonType) {
  EXPECT_STREQ(Value().type_name(), "None");
  EXPECT_STREQ(Value(true).type_name(), "bool");
  EXPECT_STREQ(Value("").type_name(), "str");
  EXPECT_STREQ(Value(Value::Dict()).type_name(), "dict");
  EXPECT_STREQ(Value(PythonClass{"m", "C"}).type_name(), "type");
}

}  // namespace
}  // namespace tdref
