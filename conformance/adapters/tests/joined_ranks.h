// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "common/messages.h"

namespace tdconf::adapter {

/// Runs one rank per thread, each with its own `join` of one case, and waits for all.
///
/// Errors  the error of the first rank, in rank order, that threw.
void run_joined_ranks(std::int64_t world_size,
                      const std::vector<GroupSpec>& groups,
                      const std::function<void(const Join& join)>& program);

/// The default group of a world of this size.
GroupSpec default_group(std::int64_t world_size, const std::string& backend = "gloo");

}  // namespace tdconf::adapter
