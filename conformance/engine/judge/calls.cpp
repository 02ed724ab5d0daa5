// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/calls.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "values/text.h"

namespace tdconf {
namespace {

const RankRecord& of_rank(const Record& record, int rank) {
  return record.ranks[static_cast<std::size_t>(rank)];
}

/// Whether two messages of one rank are numbered together.
bool is_same_lane(const Event& a, const Event& b) {
  return a.event == b.event && a.group == b.group && a.peer == b.peer && a.tag == b.tag;
}

bool is_collective_in(const Event& event, const std::string& group) {
  return is_collective(event) && event.group == group;
}

/// The place, from 0, of an event among those of its transcript that `is_alike` holds for.
template <typename IsAlike>
std::size_t place_of(const Transcript& transcript, const Event& event, IsAlike is_alike) {
  std::size_t place = 0;
  for (const Event& other : transcript) {
    if (&other == &event) break;
    if (is_alike(other)) ++place;
  }
  return place;
}

int kind_order(const Event& call) {
  if (call.event == "recv") return 0;
  return call.event == "send" ? 2 : 1;
}

bool is_wait(const Case& c, int rank, int step) {
  const auto& program = c.programs[static_cast<std::size_t>(rank)];
  const std::string& op = program[static_cast<std::size_t>(step)].op;
  return op == "wait" || op == "c10d_result";
}

}  // namespace

bool has_not_answered(const RankRecord& record) {
  return (record.in_flight || !record.join) && !record.has_crashed && !record.violation;
}

std::string in_group(const std::string& group) {
  return group == "default" ? "" : concat(" in group `", group, "`");
}

std::vector<Event> pending_calls(const RankRecord& record) {
  std::vector<Event> pending;
  if (!record.transcript) return pending;
  std::ranges::copy_if(*record.transcript, std::back_inserter(pending), [](const Event& event) {
    return is_call(event) && !event.done;
  });
  return pending;
}

const Event* call_waited_in(const Case& c, const Record& record, int rank) {
  const RankRecord& seen = of_rank(record, rank);
  if (!seen.transcript || !seen.in_flight) return nullptr;
  const auto is_candidate = [&](const Event& event) {
    return is_call(event) && !event.done &&
           (event.step == seen.in_flight || is_wait(c, rank, *seen.in_flight));
  };
  const auto order = [&](const Event& call) {
    const bool is_answered = is_collective(call) ? absent_members(c, record, rank, call).empty()
                                                 : is_met(record, rank, call);
    return std::tuple(is_answered, kind_order(call));
  };
  const Event* best = nullptr;
  for (const Event& event : *seen.transcript) {
    if (is_candidate(event) && (best == nullptr || order(event) < order(*best))) best = &event;
  }
  return best;
}

bool is_met(const Record& record, int rank, const Event& message) {
  const RankRecord& other = of_rank(record, *message.peer);
  if (!other.transcript) return false;
  const std::size_t place =
      place_of(*of_rank(record, rank).transcript, message, [&](const Event& event) {
        return is_same_lane(event, message);
      });
  Event counterpart = message;
  counterpart.event = message.event == "send" ? "recv" : "send";
  counterpart.peer = rank;
  const auto begun = std::ranges::count_if(
      *other.transcript, [&](const Event& event) { return is_same_lane(event, counterpart); });
  return static_cast<std::size_t>(begun) > place;
}

std::vector<int> absent_members(const Case& c, const Record& record, int rank, const Event& call) {
  const std::size_t place =
      place_of(*of_rank(record, rank).transcript, call, [&](const Event& event) {
        return is_collective_in(event, call.group);
      });
  const auto group = std::ranges::find(c.groups, call.group, &Group::name);
  std::vector<int> absent;
  std::vector<int> silent;
  for (const int member : group->ranks) {
    const auto& transcript = of_rank(record, member).transcript;
    if (member == rank) continue;
    if (!transcript) {
      silent.push_back(member);
      continue;
    }
    std::vector<std::string> begun;
    for (const Event& event : *transcript) {
      if (is_collective_in(event, call.group)) begun.push_back(event.event);
    }
    if (begun.size() <= place || begun[place] != call.event) absent.push_back(member);
  }
  return absent.empty() ? silent : absent;
}

const Event* last_message(const RankRecord& record,
                          const std::string& kind,
                          int peer,
                          const std::string& group) {
  const Event* last = nullptr;
  if (!record.transcript) return last;
  for (const Event& event : *record.transcript) {
    if (event.event == kind && event.peer == peer && event.group == group) last = &event;
  }
  return last;
}

}  // namespace tdconf
