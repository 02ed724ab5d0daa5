// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "counting/counting.h"

namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kBetweenLooks = std::chrono::milliseconds(1);

// The kernel says so of a thread that waits for an event; one that was woken counts as running.
bool sleeps(const fs::path& task) {
  std::string stat;
  std::getline(std::ifstream(task / "stat"), stat);
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat[name_end + 2] == 'S';
}

bool all_others_sleep() {
  const auto self = std::to_string(gettid());
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    if (task.path().filename() != self && !sleeps(task.path())) {
      return false;
    }
  }
  return true;
}

}  // namespace

int tdconf_counting_await_quiet() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!all_others_sleep()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return 1;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return 0;
}
