// SPDX-License-Identifier: BSD-3-Clause
#include "joined_ranks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>

namespace tdconf::adapter {
namespace {

/// A path that no other test has used.
std::string fresh_path() {
  static int count = 0;
  return testing::TempDir() + "tdconf_store_" + std::to_string(getpid()) + '_' +
         std::to_string(++count);
}

}  // namespace

void run_joined_ranks(std::int64_t world_size,
                      const std::vector<GroupSpec>& groups,
                      const std::function<void(const Join& join)>& program) {
  const std::string path = fresh_path();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world_size));
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        program({.rank = rank,
                 .world_size = world_size,
                 .store_path = path,
                 .groups = groups,
                 .timeout = std::chrono::seconds(20)});
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::filesystem::remove(path);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

GroupSpec default_group(std::int64_t world_size, const std::string& backend) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {.name = "default", .kind = "default", .ranks = ranks, .backend = backend};
}

}  // namespace tdconf::adapter
