// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.h"

#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

namespace tdref::testing {

void run_ranks(int world_size,
               const std::function<void(World& world, int rank)>& program,
               const GroupOptions& options) {
  run_ranks_with(std::vector<GroupOptions>(static_cast<std::size_t>(world_size), options), program);
}

GroupOptions plain_options() {
  return {.timeout = std::chrono::seconds(20), .agree_on_structure = false};
}

void run_ranks_with(const std::vector<GroupOptions>& options_by_rank,
                    const std::function<void(World& world, int rank)>& program) {
  const auto world_size = static_cast<int>(options_by_rank.size());
  const auto store = c10::make_intrusive<c10d::HashStore>();
  store->setTimeout(options_by_rank.front().timeout);
  std::vector<World> worlds(static_cast<std::size_t>(world_size));
  std::vector<std::exception_ptr> errors(worlds.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto place = static_cast<std::size_t>(rank);
      try {
        worlds[place] = World::init_process_group(store, rank, world_size, options_by_rank[place]);
        program(worlds[place], rank);
      } catch (...) {
        errors[place] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace tdref::testing
