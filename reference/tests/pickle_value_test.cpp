// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <tdref/pickle.h>

#include <limits>
#include <ostream>
#include <string>
#include <string_view>

namespace tdref {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

Value everything() {
  return Value::Dict{
      {"none", nullptr},
      {"bools", Value::List{true, false}},
      {"ints",
       Value::List{0,
                   -1,
                   255,
                   256,
                   65536,
                   std::numeric_limits<std::int64_t>::max(),
                   std::numeric_limits<std::int64_t>::min()}},
      {"float", -1.5},
      {"é", "naïve"},
      {"long", std::string(300, 'x')},
      {"bytes", Value::Bytes{"\x00\xff"s}},
      {"tuple", Value::Tuple{{1, Value::Tuple{}, Value::List{}, Value::Dict{}}}},
      {7, Value::Dict{{Value::Tuple{{1, 2}}, "tuple key"}}},
  };
}

TEST(PickleValue, RoundTrips) {
  EXPECT_EQ(unpickle_value(pickle_value(everything())), everything());
}

TEST(UnpickleValue, ReadsWhatPythonWrites) {
  // pickle.dumps([1, 'a', None], 4), without the frame; then protocol 2 of {'k': (True, -2, 300)}
  // with BINPUT
  EXPECT_EQ(unpickle_value("\x80\x04]\x94(K\x01\x8c\x01"
                           "a\x94Ne."sv),
            Value(Value::List{1, "a", nullptr}));
  EXPECT_EQ(unpickle_value(
                "\x80\x02}q\x00X\x01\x00\x00\x00kq\x01\x88J\xfe\xff\xff\xffM\x2c\x01\x87q\x02s."sv),
            Value(Value::Dict{{"k", Value::Tuple{{true, -2, 300}}}}));
}

TEST(UnpickleValue, ReadsSharedObjects) {
  EXPECT_EQ(unpickle_value("\x80\x04]\x94(]\x94K\x05"
                           "ah\x01h\x01"
                           "e."sv),
            Value(Value::List{Value::List{5}, Value::List{5}, Value::List{5}}));
}

TEST(UnpickleValue, RejectsEveryPrefix) {
  const auto whole = pickle_value(everything());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(unpickle_value(std::string_view(whole).substr(0, length)), c10::ValueError)
        << length;
  }
}

TEST(UnpickleValue, SurvivesEveryChangedByte) {
  const auto whole = pickle_value(everything());
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int value = 0; value < 256; ++value) {
      auto changed = whole;
      changed[place] = static_cast<char>(value);
      try {
        unpickle_value(changed);
      } catch (const c10::ValueError&) {
      }
    }
  }
}

struct Malformed {
  const char* name;
  std::string_view bytes;
};

void PrintTo(const Malformed& malformed, std::ostream* out) {
  *out << malformed.name;
}

class MalformedPickle : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedPickle, IsRejected) {
  EXPECT_THROW(unpickle_value(GetParam().bytes), c10::ValueError);
}

INSTANTIATE_TEST_SUITE_P(UnpickleValue,
                         MalformedPickle,
                         ::testing::Values(Malformed{"Empty", ""sv},
                                           Malformed{"StopOnly", "."sv},
                                           Malformed{"TrailingBytes", "N.N"sv},
                                           Malformed{"TwoObjects", "NN."sv},
                                           Malformed{"OpenMark", "N(."sv},
                                           Malformed{"UnknownProtocol", "\x80\x06N."sv},
                                           Malformed{"UnknownOpcode", "P."sv},
                                           Malformed{"HugeString",
                                                     "\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"
                                                     "a."sv},
                                           Malformed{"HugeBytes",
                                                     "B\xff\xff\xff\xff"
                                                     "a."sv},
                                           Malformed{"IntegerOf128Bits",
                                                     "\x8a\x10"
                                                     "0123456789abcdef."sv},
                                           Malformed{"TupleOfTooFew", "N\x86."sv},
                                           Malformed{"TupleAcrossAMark", "N(\x85."sv},
                                           Malformed{"TupleWithoutMark", "Nt."sv},
                                           Malformed{"AppendToNone", "NNa."sv},
                                           Malformed{"ItemOfAList", "]NNs."sv},
                                           Malformed{"OddItems", "}(Nu."sv},
                                           Malformed{"EmptyMemo", "h\x00."sv},
                                           Malformed{"MemoizeNothing", "\x94N."sv},
                                           Malformed{"GlobalWithoutName", "cos\n"sv},
                                           Malformed{"GlobalNamedByNumbers", "K\x01K\x02\x93."sv},
                                           Malformed{"Global", "cos\nsystem\n."sv},
                                           Malformed{"Call", "cos\nsystem\n\x8c\x04true\x85R."sv},
                                           Malformed{"BuildOfNone", "N}b."sv},
                                           Malformed{"PersistentId", "NQ."sv},
                                           Malformed{"ListThatHoldsItself",
                                                     "]\x94h\x00"
                                                     "a."sv}),
                         [](const auto& test) { return test.param.name; });

TEST(UnpickleValue, NamesAClassUnderClsAlone) {
  const Value metadata = Value::Dict{{"cls", PythonClass{"my.module", "Outer.Pair"}}};
  EXPECT_EQ(unpickle_value(pickle_value(metadata)), metadata);
  EXPECT_EQ(unpickle_value("}X\x03\0\0\0clscos\nsystem\ns."sv),
            Value(Value::Dict{{"cls", PythonClass{"os", "system"}}}));
  EXPECT_THROW(unpickle_value("}X\x03\0\0\0clacos\nsystem\ns."sv), c10::ValueError);
  EXPECT_THROW(unpickle_value("}X\x03\0\0\0cls]cos\nsystem\nas."sv), c10::ValueError);
  EXPECT_THROW(unpickle_value("}X\x03\0\0\0clscos\nsystem\n)Rs."sv), c10::ValueError);
}

TEST(UnpickleValue, BoundsTheDepth) {
  EXPECT_NO_THROW(unpickle_value(std::string(400, ']') + std::string(399, 'a') + "."));
  EXPECT_THROW(unpickle_value(std::string(100000, ']') + std::string(99999, 'a') + "."),
               c10::ValueError);
}

TEST(UnpickleValue, BoundsWhatSharingGrowsTo) {
  // each list holds the one before it ten times: 10^9 objects in about 250 bytes
  std::string bytes = "]\x94";
  for (char level = 0; level < 9; ++level) {
    bytes += "](";
    for (int i = 0; i < 10; ++i) {
      bytes += "h"s + level;
    }
    bytes += "e\x94";
  }
  std::string kept_last = "\x80\x04(" + bytes + "t.";
  EXPECT_THROW(unpickle_value(kept_last), c10::ValueError);
}

}  // namespace
}  // namespace tdref
