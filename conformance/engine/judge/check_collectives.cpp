// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_collectives.h"

#include <algorithm>

#include "engine/judge/calls.h"
#include "engine/judge/contents.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// What one rank noted of a collective call.
struct Part {
  int rank = 0;
  const Event* event = nullptr;
};

/// The n-th collective call in a group, on all ranks that came to it.
using Meeting = std::vector<Part>;

std::vector<Meeting> meetings_in(const Group& group, const Record& record) {
  std::vector<Meeting> meetings;
  for (const int rank : group.ranks) {
    const auto& transcript = record.ranks[static_cast<std::size_t>(rank)].transcript;
    if (!transcript) continue;
    std::size_t place = 0;
    for (const Event& event : *transcript) {
      if (!is_collective(event) || event.group != group.name) continue;
      if (place == meetings.size()) meetings.emplace_back();
      meetings[place++].push_back({rank, &event});
    }
  }
  return meetings;
}

bool is_root(const Part& part) {
  return part.event->peer == part.rank;
}

/// True when the part tells what its rank gives to all, or has got.
bool has_contents(const Part& part) {
  return part.event->done || (part.event->event == "broadcast" && is_root(part));
}

/// Finds the part that says what all others must hold: the root's, or where there is none that of the
/// first rank.
const Part* model_of(const Meeting& meeting) {
  const std::string& call = meeting.front().event->event;
  if (call != "broadcast" && call != "all_reduce") return nullptr;
  const auto is_model = [&](const Part& part) {
    return part.event->event == call && has_contents(part) &&
           (call == "all_reduce" || is_root(part));
  };
  const auto found = std::ranges::find_if(meeting, is_model);
  return found == meeting.end() ? nullptr : &*found;
}

bool is_same_call(const Event& a, const Event& b) {
  return a.event == b.event && a.peer == b.peer;
}

}  // namespace

std::vector<WireDifference> check_collectives(const Case& c, const Record& record) {
  std::vector<WireDifference> differences;
  for (const Group& group : c.groups) {
    std::size_t number = 0;
    for (const Meeting& meeting : meetings_in(group, record)) {
      ++number;
      const Part* model = model_of(meeting);
      if (model == nullptr) continue;
      for (const Part& part : meeting) {
        if (!part.event->done || !is_same_call(*part.event, *model->event) ||
            have_same_contents(*part.event, *model->event)) {
          continue;
        }
        const std::string what = concat("collective call ",
                                        number,
                                        in_group(group.name),
                                        ": what ",
                                        part.event->event,
                                        " gave, as on ",
                                        show_caller(c, model->rank, *model->event));
        differences.push_back(
            {part.rank,
             part.event->step,
             differ("", what, show_contents(*model->event), show_contents(*part.event))});
      }
    }
  }
  return differences;
}

}  // namespace tdconf
