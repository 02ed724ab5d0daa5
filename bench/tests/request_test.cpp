// SPDX-License-Identifier: BSD-3-Clause
#include "common/request.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include <string>

namespace tdconf::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

json timed() {
  return {{"operation", "send"},
          {"leaves", 10},
          {"bytes", 1024},
          {"depth", 2},
          {"dtype", "float64"},
          {"iterations", 5},
          {"batch", 3}};
}

json counted() {
  return {{"operation", "send"},
          {"leaves", 10},
          {"bytes", 1024},
          {"depth", 2},
          {"dtype", "float64"},
          {"count", true}};
}

void expect_rejects(const json& request, const std::string& message) {
  EXPECT_THAT([&] { read_request(request.dump()); },
              ThrowsMessage<c10::ValueError>(HasSubstr(message)))
      << request;
}

TEST(ReadRequest, ReadsWhatIsTimed) {
  const auto request = read_request(timed().dump());
  EXPECT_FALSE(request.count);
  EXPECT_EQ(request.iterations, 5);
  EXPECT_EQ(request.batch, 3);
  EXPECT_EQ(request.subject.elements(), 128);
  EXPECT_EQ(request.subject.total_bytes(), 10240);
  EXPECT_EQ(name_of(request.subject, 2), "send/leaves:10/bytes:1024/depth:2/dtype:float64/world:2");
}

TEST(ReadRequest, ReadsWhatIsCounted) {
  EXPECT_TRUE(read_request(counted().dump()).count);
}

TEST(ReadRequest, RejectsALineThatIsNoObject) {
  for (const auto* line : {"", "send", "[]", "{\"operation\": \"send\"", "3"}) {
    EXPECT_THAT([&] { read_request(line); },
                ThrowsMessage<c10::ValueError>(HasSubstr("one JSON object on one line, not: ")))
        << line;
  }
}

TEST(ReadRequest, RejectsKeysThatAreMissingOrUnknown) {
  const auto complete = timed();
  for (const auto& item : complete.items()) {
    auto request = complete;
    request.erase(item.key());
    expect_rejects(request, "the request has no \"" + item.key() + '"');
  }
  auto request = timed();
  request["tag"] = 1;
  expect_rejects(request, "the request has the key \"tag\"; allowed are the keys [\"operation\",");
  request = counted();
  request["batch"] = 1;
  expect_rejects(request, "the request has the key \"batch\"");
}

TEST(ReadRequest, RejectsNumbersOutOfRange) {
  const json wrong[] = {{{"leaves", 0}},
                        {{"leaves", 10001}},
                        {{"leaves", 1.5}},
                        {{"leaves", "10"}},
                        {{"bytes", 0}},
                        {{"bytes", (1 << 30) + 1}},
                        {{"bytes", 18446744073709551615ULL}},
                        {{"depth", -1}},
                        {{"depth", 33}},
                        {{"iterations", 0}},
                        {{"batch", 1000001}},
                        {{"batch", true}}};
  for (const auto& change : wrong) {
    auto request = timed();
    request.update(change);
    expect_rejects(request, "is an integer from ");
  }
}

TEST(ReadRequest, RejectsOtherValues) {
  auto request = timed();
  request["dtype"] = "float16";
  expect_rejects(request, "\"dtype\" is float32, float64, int64 or uint8, not \"float16\"");
  request = timed();
  request["operation"] = 7;
  expect_rejects(request, "\"operation\" is a string, not 7");
  request = counted();
  request["count"] = false;
  expect_rejects(request, "\"count\" is true, not false");
}

TEST(ReadRequest, RejectsPartsOfElementsAndMoreThanOneBucketHolds) {
  auto request = timed();
  request["bytes"] = 12;
  expect_rejects(request, "\"bytes\" is a multiple of 8, the size of one float64, not 12");
  request = timed();
  request.update({{"leaves", 2}, {"bytes", (1 << 29) + 8}});
  expect_rejects(request, "2 leaves of 536870920 bytes are more than the 1073741824 bytes");
}

}  // namespace
}  // namespace tdconf::bench
