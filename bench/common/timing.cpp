// SPDX-License-Identifier: BSD-3-Clause
#include "common/timing.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <exception>
#include <sstream>
#include <vector>

namespace tdconf::bench {
namespace {

constexpr double kMicroseconds = 1e6;  // of the time unit of a report in a second

/// Writes the JSON of Google Benchmark, with the name that was registered: what the library appends
/// to it says how it was measured, which all columns do alike.
class Reporter : public benchmark::JSONReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> renamed = runs;
    for (auto& run : renamed) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    JSONReporter::ReportRuns(renamed);
  }
};

}  // namespace

nlohmann::json report(const std::string& name,
                      std::int64_t iterations,
                      const std::function<double()>& measure,
                      const std::map<std::string, std::int64_t>& counters) {
  std::exception_ptr problem;
  const auto loop = [&](benchmark::State& state) {
    try {
      for (auto _ : state) {
        state.SetIterationTime(measure());
      }
    } catch (const std::exception& error) {
      problem = std::current_exception();
      state.SkipWithError(error.what());
    }
    for (const auto& [key, value] : counters) {
      state.counters[key] = static_cast<double>(value);
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), loop)
      ->Iterations(iterations)
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMicrosecond);
  std::ostringstream text;
  Reporter reporter;
  reporter.SetOutputStream(&text);
  reporter.SetErrorStream(&text);
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (problem) {
    std::rethrow_exception(problem);
  }
  return nlohmann::json::parse(text.str());
}

nlohmann::json time(const std::string& name,
                    Operation& operation,
                    Control& control,
                    std::int64_t iterations,
                    std::int64_t batch) {
  using Clock = std::chrono::steady_clock;
  // The ranks leave the exchange of one iteration's times together, and enter the next.
  control.slowest(0);
  std::vector<double> times;
  auto result = report(name, iterations, [&] {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < batch; ++i) {
      operation.run();
    }
    const std::chrono::duration<double> seconds = Clock::now() - start;
    const double slowest = control.slowest(seconds.count()) / static_cast<double>(batch);
    times.push_back(slowest * kMicroseconds);
    return slowest;
  });
  // `real_time` is their mean, which one disturbed iteration moves.
  result.at("benchmarks").at(0)["times"] = times;
  return result;
}

}  // namespace tdconf::bench
