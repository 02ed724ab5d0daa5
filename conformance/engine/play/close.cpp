// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/close.h"

#include <optional>

#include "values/text.h"

namespace tdconf {
namespace {

using std::chrono::milliseconds;

/// Sends one request to every rank and waits for all answers.
template <typename Take>
void ask_all(const std::vector<Adapter*>& adapters,
             Fleet& fleet,
             const char* request,
             milliseconds limit_ms,
             Record& record,
             Take take) {
  const Clock::time_point limit = Clock::now() + limit_ms;
  std::vector<std::size_t> waiting;
  for (std::size_t rank = 0; rank < adapters.size(); ++rank) {
    if (record.ranks[rank].violation || record.ranks[rank].has_crashed) continue;
    adapters[rank]->peer()->send(request);
    waiting.push_back(rank);
  }
  const auto settle = [&](std::size_t rank) {
    if (const std::optional<Reply> reply = adapters[rank]->peer()->take_reply()) {
      if (!take(rank, reply->answer)) {
        record.ranks[rank].violation = concat("`", request, "`: ", describe(reply->answer));
      }
      return true;
    }
    if (const auto& exit = adapters[rank]->exit()) {
      record.ranks[rank].exit = exit;
      record.ranks[rank].has_crashed = true;
      return true;
    }
    if (adapters[rank]->peer()->violation()) {
      record.ranks[rank].violation = adapters[rank]->peer()->violation();
      return true;
    }
    return false;
  };
  while (true) {
    std::erase_if(waiting, settle);
    if (waiting.empty() || Clock::now() >= limit) break;
    fleet.poll(limit);
  }
  for (const std::size_t rank : waiting) {
    record.ranks[rank].violation =
        concat("`", request, "` is not answered within ", limit_ms.count(), " ms");
  }
}

}  // namespace

void close_case(const std::vector<Adapter*>& adapters,
                Fleet& fleet,
                milliseconds limit,
                Record& record) {
  ask_all(adapters, fleet, "end_case", limit, record, [&](std::size_t rank, const Answer& answer) {
    if (const auto* ended = std::get_if<Ended>(&answer)) record.ranks[rank].ended = *ended;
    return std::holds_alternative<Ended>(answer);
  });
  ask_all(adapters, fleet, "reset", limit, record, [](std::size_t, const Answer& answer) {
    return std::holds_alternative<Done>(answer);
  });
}

void kill_ranks(const std::vector<Adapter*>& adapters, Fleet& fleet, Record& record) {
  fleet.kill(adapters);
  for (std::size_t rank = 0; rank < adapters.size(); ++rank) {
    if (!record.ranks[rank].exit) record.ranks[rank].exit = adapters[rank]->exit();
  }
  fleet.discard(adapters);
}

}  // namespace tdconf
