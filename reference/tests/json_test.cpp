// SPDX-License-Identifier: BSD-3-Clause
#include "codec/json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>

namespace tdref {
namespace {

TEST(Json, IsAsciiAndHasListsForTuples) {
  const Value value(
      Value::Dict{{"t", Value(Value::Tuple{{1, 2.0}})},
                  {"u", "ö\"\n"},
                  {"e", Value(Value::List{Value(Value::List{}), Value(Value::Dict{})})},
                  {"n", Value()},
                  {"b", true}});
  EXPECT_EQ(to_json(value), R"({"t":[1,2.0],"u":"\u00f6\"\n","e":[[],{}],"n":null,"b":true})");
  EXPECT_EQ(from_json(to_json(value)),
            Value(Value::Dict{{"t", Value(Value::List{1, 2.0})},
                              {"u", "ö\"\n"},
                              {"e", Value(Value::List{Value(Value::List{}), Value(Value::Dict{})})},
                              {"n", Value()},
                              {"b", true}}));
}

TEST(Json, RefusesWhatItCannotHold) {
  EXPECT_THROW(to_json(Value(Value::Bytes{"x"})), c10::TypeError);
  EXPECT_THROW(to_json(Value(Value::Dict{{1, 2}})), c10::TypeError);
  EXPECT_THROW(to_json(Value("\xff")), c10::ValueError);
  EXPECT_THROW(from_json("NaN"), c10::ValueError);
}

TEST(Json, NestsAsDeepInAsOut) {
  const auto lists = [](int count) { return std::string(count, '[') + std::string(count, ']'); };
  EXPECT_EQ(to_json(from_json(lists(500))), lists(500));
  EXPECT_THROW(from_json(lists(501)), c10::ValueError);
  EXPECT_THROW(from_json(lists(10000)), c10::ValueError);
  EXPECT_THROW(to_json(Value(Value::List{from_json(lists(500))})), c10::ValueError);
}

TEST(JsonOfPython, IsWrittenAsPythonWritesIt) {
  const Value value(Value::Dict{
      {"a", Value(Value::List{1e15, 1e16, -0.0, 1.5e-5, 1e-4, 0.1, 123456789.0, 5e-324})},
      {"c", PythonClass{"package.module", "Outer.Class"}},
      {"d", "\x7f/"}});
  // print(json.dumps({"a": [...], "c": str(cls), "d": "\x7f/"}))
  EXPECT_EQ(to_json(value, JsonForm::kPython),
            R"({"a": [1000000000000000.0, 1e+16, -0.0, 1.5e-05, 0.0001, 0.1, 123456789.0, 5e-324],)"
            R"( "c": "<class 'package.module.Outer.Class'>", "d": "\u007f/"})");
}

TEST(JsonOfPython, HasNumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto text = R"([null, NaN, "NaN null \" -Infinity", -Infinity, Infinity, null])";
  const auto value = from_json(text, JsonForm::kPython);
  const auto& items = *value.get_if<Value::List>();
  EXPECT_TRUE(items[0].is_none());
  EXPECT_TRUE(std::isnan(*items[1].get_if<double>()));
  EXPECT_EQ(items[2], Value("NaN null \" -Infinity"));
  EXPECT_EQ(items[3], Value(-kInfinity));
  EXPECT_EQ(items[4], Value(kInfinity));
  EXPECT_TRUE(items[5].is_none());
  EXPECT_EQ(to_json(value, JsonForm::kPython), text);
}

TEST(JsonOfPython, RefusesWhatPythonDoes) {
  for (const char* text : {"-NaN", "NaNnull", "1NaN", "[nan]", "\"\\", "+Infinity", ""}) {
    EXPECT_THROW(from_json(text, JsonForm::kPython), c10::ValueError) << text;
  }
}

}  // namespace
}  // namespace tdref
