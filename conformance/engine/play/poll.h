// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

namespace tdconf {

using Clock = std::chrono::steady_clock;

/// Waits until one of the descriptors is ready or `until` has come.
///
/// Errors  Interrupted; std::system_error.
void poll_until(std::vector<pollfd>& watched, Clock::time_point until);

}  // namespace tdconf
