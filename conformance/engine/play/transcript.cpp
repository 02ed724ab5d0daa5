// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/transcript.h"

#include <algorithm>

#include "values/text.h"

namespace tdconf {
namespace {

/// Finds the step that had this number; nothing for a request that was no step.
std::optional<int> step_with(const RankRecord& record, std::optional<int> seq) {
  if (!seq) return std::nullopt;
  const auto found = std::ranges::find(record.seqs, std::int64_t{*seq});
  if (found == record.seqs.end()) return std::nullopt;
  return static_cast<int>(found - record.seqs.begin());
}

std::optional<std::string> fault_of(const Case& c,
                                    const RankRecord& record,
                                    const Transcript& transcript) {
  for (const Event& event : transcript) {
    if (event.step && !step_with(record, event.step)) {
      return concat("its transcript names the request ", *event.step, ", which was no step");
    }
    if (!is_call(event)) continue;
    if (std::ranges::find(c.groups, event.group, &Group::name) == c.groups.end()) {
      return concat("its transcript names the group `", event.group, "`, which the case has not");
    }
    if (event.peer && *event.peer >= c.world) {
      return concat("its transcript names rank ", *event.peer, " of ", c.world);
    }
  }
  return std::nullopt;
}

}  // namespace

void adopt_transcript(const Case& c,
                      const std::optional<Transcript>& transcript,
                      RankRecord& record) {
  const bool is_claimed = record.capabilities.contains("transcript");
  if (is_claimed != transcript.has_value()) {
    record.violation = is_claimed ? "gives no transcript, although it claims `transcript`"
                                  : "gives a transcript, but does not claim `transcript`";
    return;
  }
  if (!transcript) return;
  record.violation = fault_of(c, record, *transcript);
  if (record.violation) return;
  record.transcript = *transcript;
  for (Event& event : *record.transcript) event.step = step_with(record, event.step);
}

}  // namespace tdconf
