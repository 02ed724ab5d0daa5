// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/poll.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "engine/play/interrupt.h"

namespace tdconf {
namespace {

timespec time_left(Clock::time_point until) {
  const auto left =
      std::max(std::chrono::nanoseconds(0),
               std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()));
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {left.count() / kNanoseconds, left.count() % kNanoseconds};
}

}  // namespace

void poll_until(std::vector<pollfd>& watched, Clock::time_point until) {
  const timespec timeout = time_left(until);
  const int ready = ppoll(watched.data(), watched.size(), &timeout, &interruptible_mask());
  if (is_interrupted()) throw Interrupted();
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "ppoll");
}

}  // namespace tdconf
