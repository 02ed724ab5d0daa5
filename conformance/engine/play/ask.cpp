// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/ask.h"

#include <map>
#include <optional>

namespace tdconf {

void ask(const Question& question,
         const std::vector<Adapter*>& adapters,
         Fleet& fleet,
         const std::function<void(std::size_t, const Answer&)>& take) {
  const Clock::time_point limit = Clock::now() + question.limit;
  std::map<std::size_t, std::int64_t> open;
  for (const std::size_t rank : question.ranks) {
    open[rank] = adapters[rank]->peer()->send(question.request);
  }
  const auto settle = [&](const auto& asked) {
    const auto& [rank, seq] = asked;
    while (const std::optional<Reply> reply = adapters[rank]->peer()->take_reply()) {
      if (reply->seq != seq) continue;
      take(rank, reply->answer);
      return true;
    }
    // A closed connection is seen before the end of the process, which says more.
    return adapters[rank]->exit() || adapters[rank]->peer()->violation();
  };
  while (true) {
    std::erase_if(open, settle);
    if (open.empty() || Clock::now() >= limit) return;
    fleet.poll(limit);
  }
}

}  // namespace tdconf
