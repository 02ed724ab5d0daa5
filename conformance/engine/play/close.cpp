// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/close.h"

#include <functional>
#include <optional>
#include <set>

#include "engine/play/ask.h"
#include "engine/play/transcript.h"
#include "values/text.h"

namespace tdconf {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookLimit{1'000};

std::vector<std::size_t> ranks_in_order(const Record& record) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const RankRecord& seen = record.ranks[rank];
    if (!seen.violation && !seen.has_crashed) ranks.push_back(rank);
  }
  return ranks;
}

/// Notes why a rank did not answer.
void blame(Adapter& adapter, const Question& question, RankRecord& record) {
  if (adapter.exit()) {
    record.exit = adapter.exit();
    record.has_crashed = true;
  } else if (const std::optional<std::string> violation = adapter.peer()->violation()) {
    record.violation = violation;
  } else {
    record.violation =
        concat("`", question.request, "` is not answered within ", question.limit.count(), " ms");
  }
}

/// Asks all ranks for something that they must answer; `take` says whether it is the right answer.
void demand(const char* request,
            const std::vector<Adapter*>& adapters,
            Fleet& fleet,
            milliseconds limit,
            Record& record,
            const std::function<bool(RankRecord&, const Answer&)>& take) {
  const Question question{request, ranks_in_order(record), limit};
  std::set<std::size_t> silent(question.ranks.begin(), question.ranks.end());
  ask(question, adapters, fleet, [&](std::size_t rank, const Answer& answer) {
    silent.erase(rank);
    RankRecord& seen = record.ranks[rank];
    if (!take(seen, answer)) seen.violation = concat("`", request, "`: ", describe(answer));
  });
  for (const std::size_t rank : silent) blame(*adapters[rank], question, record.ranks[rank]);
}

}  // namespace

void end_case(const Case& c,
              const std::vector<Adapter*>& adapters,
              Fleet& fleet,
              milliseconds limit,
              Record& record) {
  demand("end_case", adapters, fleet, limit, record, [&](RankRecord& seen, const Answer& answer) {
    const auto* ended = std::get_if<Ended>(&answer);
    if (ended == nullptr) return false;
    seen.ended = *ended;
    adopt_transcript(c, ended->transcript, seen);
    return true;
  });
}

void look_at_ranks(const Case& c,
                   const std::vector<Adapter*>& adapters,
                   Fleet& fleet,
                   Record& record) {
  const Question question{"stacks", ranks_in_order(record), kLookLimit};
  for (const std::size_t rank : question.ranks) record.ranks[rank].is_silent = true;
  ask(question, adapters, fleet, [&](std::size_t rank, const Answer& answer) {
    record.ranks[rank].is_silent = false;
    const auto* stacks = std::get_if<Stacks>(&answer);
    if (stacks == nullptr) return;
    RankRecord& seen = record.ranks[rank];
    if (record.is_hung) seen.stacks = stacks->text;
    adopt_transcript(c, stacks->transcript, seen);
  });
  for (const std::size_t rank : question.ranks) {
    RankRecord& seen = record.ranks[rank];
    if (const auto& violation = adapters[rank]->peer()->violation()) seen.violation = violation;
    seen.is_silent = seen.is_silent && !seen.violation && !adapters[rank]->exit();
  }
}

void reset_ranks(const std::vector<Adapter*>& adapters,
                 Fleet& fleet,
                 milliseconds limit,
                 Record& record) {
  demand("reset", adapters, fleet, limit, record, [](RankRecord&, const Answer& answer) {
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
