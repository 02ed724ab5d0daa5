// SPDX-License-Identifier: BSD-3-Clause
#include "common/fields.h"

#include <gmock/gmock.h>

namespace tdconf::adapter {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Fields, RefusesAFieldThatIsNotKnown) {
  const json object{{"dst", 1}, {"dest", 2}};
  EXPECT_THAT(
      [&] {
        Fields(object, "send", {"td", "dst"});
      },
      ThrowsMessage<BadRequest>("send: unknown field `dest`; known: td, dst"));
}

TEST(Fields, RefusesWhatIsNoObject) {
  EXPECT_THAT([] { Fields(json::array({1}), "send", {}); },
              ThrowsMessage<BadRequest>("send: expected an object, got [1]"));
}

TEST(Fields, NamesAMissingField) {
  const Fields fields(json::object(), "send", {"td"});
  EXPECT_THAT([&] { fields.required<std::string>("td"); },
              ThrowsMessage<BadRequest>("send: field `td` is missing"));
}

TEST(Fields, LeavesAnAbsentOptionalFieldEmpty) {
  const Fields fields(json{{"dst", 0}}, "send", {"dst", "group_dst"});
  EXPECT_EQ(fields.optional<std::int64_t>("dst"), 0);
  EXPECT_EQ(fields.optional<std::int64_t>("group_dst"), std::nullopt);
}

TEST(Fields, CountsNullAsPresent) {
  const Fields fields(json{{"dst", nullptr}}, "send", {"dst"});
  EXPECT_EQ(fields.required<std::optional<std::int64_t>>("dst"), std::nullopt);
  EXPECT_THROW(fields.optional<std::int64_t>("dst"), BadRequest);
}

TEST(Fields, NamesTheItemOfAListThatHasAnotherType) {
  const Fields fields(json{{"ranks", {0, "1"}}}, "join", {"ranks"});
  EXPECT_THAT([&] { fields.required<std::vector<std::int64_t>>("ranks"); },
              ThrowsMessage<BadRequest>(R"(join.ranks[1]: expected a 64-bit integer, got "1")"));
}

TEST(Decode, DoesNotCoerceToAnInteger) {
  std::int64_t out = 0;
  for (const char* text : {"1.0", "true", "\"1\"", "null", "9223372036854775808"}) {
    EXPECT_THAT([&] { decode(json::parse(text), "x", out); },
                ThrowsMessage<BadRequest>(HasSubstr(text)));
  }
  decode(json::parse("-9223372036854775808"), "x", out);
  EXPECT_EQ(out, std::numeric_limits<std::int64_t>::min());
}

TEST(Decode, DoesNotCoerceToABooleanOrAString) {
  bool truth = false;
  std::string text;
  EXPECT_THROW(decode(json(1), "x", truth), BadRequest);
  EXPECT_THROW(decode(json(1), "x", text), BadRequest);
}

}  // namespace
}  // namespace tdconf::adapter
