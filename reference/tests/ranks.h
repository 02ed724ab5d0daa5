// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tdref/group.h>

#include <functional>
#include <string>
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

/// Returns the message of the error that `call` throws, which must be an `Error`.
template <typename Error>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tdref::testing
