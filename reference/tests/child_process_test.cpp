// SPDX-License-Identifier: BSD-3-Clause
#include "codec/child_process.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace tdref {
namespace {

constexpr ChildLimits kLimits{.memory_bytes = std::size_t{1} << 26, .cpu_seconds = 1};

std::string error_of(const std::function<std::string()>& produce) {
  try {
    call_in_child(kLimits, produce);
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

TEST(ChildProcess, ReturnsWhatIsProducedThere) {
  const std::string large(std::size_t{1} << 20, 'x');
  EXPECT_EQ(call_in_child(kLimits, [&] { return large; }), large);
  EXPECT_EQ(call_in_child(kLimits, [] { return std::string(); }), "");
  EXPECT_EQ(call_in_child(kLimits, [] { return std::string("r\0e", 3); }), std::string("r\0e", 3));
}

TEST(ChildProcess, ChangesNothingHere) {
  int value = 1;
  EXPECT_EQ(call_in_child(kLimits, [&] { return std::to_string(++value); }), "2");
  EXPECT_EQ(value, 1);
}

TEST(ChildProcess, ReportsErrorsWithTheirMessage) {
  EXPECT_EQ(error_of([]() -> std::string { TORCH_CHECK(false, "it is wrong"); }), "it is wrong");
}

TEST(ChildProcess, SurvivesWhatEndsTheChild) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGKILL}) {
    EXPECT_THAT(error_of([signal] {
                  std::raise(signal);
                  return std::string("too late");
                }),
                ::testing::HasSubstr("it broke the library that reads it"));
  }
}

TEST(ChildProcess, HasNoMoreMemoryThanItIsGiven) {
  EXPECT_THAT(error_of([] { return std::string(std::size_t{1} << 28, 'x'); }),
              ::testing::HasSubstr("it takes more memory than is allowed"));
}

TEST(ChildProcess, HasNoMoreTimeThanItIsGiven) {
  const auto loop_for_ever = [] {
    for (std::string text;; text = std::to_string(text.size())) {
    }
    return std::string();
  };
  EXPECT_THAT(error_of(loop_for_ever), ::testing::HasSubstr("took more than 1 seconds"));
}

TEST(ChildProcess, MayBeCalledByManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 8; ++k) {
        EXPECT_EQ(call_in_child(kLimits, [&] { return std::to_string(i); }), std::to_string(i));
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace tdref
