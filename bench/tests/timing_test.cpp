// SPDX-License-Identifier: BSD-3-Clause
#include "common/timing.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tdconf::bench {
namespace {

using testing::ThrowsMessage;

TEST(Report, HasTheMeanOfTheSecondsThatWereMeasured) {
  double seconds = 0;
  const auto json = report("a/world:2", 4, [&] { return seconds += 0.25; });
  ASSERT_EQ(json.at("benchmarks").size(), 1);
  const auto& benchmark = json["benchmarks"][0];
  EXPECT_EQ(benchmark.at("name"), "a/world:2");
  EXPECT_EQ(benchmark.at("run_type"), "iteration");
  EXPECT_EQ(benchmark.at("iterations"), 4);
  EXPECT_EQ(benchmark.at("time_unit"), "us");
  EXPECT_DOUBLE_EQ(benchmark.at("real_time"), (0.25 + 0.5 + 0.75 + 1) / 4 * 1e6);
  EXPECT_TRUE(json.at("context").contains("num_cpus"));
}

TEST(Report, HasTheCounters) {
  const auto json = report("a", 1, [] { return 0.0; }, {{"messages", 12}});
  EXPECT_EQ(json["benchmarks"][0].at("messages"), 12);
}

TEST(Report, HasOneBenchmarkEachTime) {
  report("a", 1, [] { return 0.0; });
  const auto json = report("b", 1, [] { return 0.0; });
  ASSERT_EQ(json.at("benchmarks").size(), 1);
  EXPECT_EQ(json["benchmarks"][0].at("name"), "b");
}

TEST(Report, ThrowsWhatTheMeasurementThrows) {
  EXPECT_THAT([] { report("a", 3, []() -> double { throw std::runtime_error("lost"); }); },
              ThrowsMessage<std::runtime_error>("lost"));
}

}  // namespace
}  // namespace tdconf::bench
