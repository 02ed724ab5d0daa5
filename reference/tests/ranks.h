// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include <functional>
#include <vector>

namespace tdref::testing {

/// Runs one rank per thread on one store and waits for all; connections stay open until the last
/// rank has returned.
///
/// Errors  the error of the first rank, in rank order, that threw.
void run_ranks(int world_size,
               const std::function<void(World& world, int rank)>& program,
               const GroupOptions& options = {.timeout = std::chrono::seconds(20)});

/// As run_ranks(), each rank with options of its own.
void run_ranks_with(const std::vector<GroupOptions>& options_by_rank,
                    const std::function<void(World& world, int rank)>& program);

/// Options of a rank that takes messages as they come, without comparing them.
GroupOptions plain_options();

}  // namespace tdref::testing
