// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/release.h"

#include <algorithm>
#include <map>

#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// Every label of the case, as `RANK.LABEL`.
using Labels = std::map<std::string, StepId>;

Labels collect_labels(const std::vector<Node>& programs) {
  Labels labels;
  for (int rank = 0; rank < static_cast<int>(programs.size()); ++rank) {
    int index = 0;
    for (const Node& step : *programs[static_cast<std::size_t>(rank)].list()) {
      for (const NodePair& pair : *step.map()) {
        if (*pair.key.scalar() != "label") continue;
        const std::string label = concat(rank, ".", read_string(pair.value, "label"));
        if (!labels.emplace(label, StepId{rank, index}).second) {
          refuse(pair.value, "label", "each label once in a rank");
        }
      }
      ++index;
    }
  }
  return labels;
}

StepId find_label(const Node& node, const Labels& labels) {
  const auto found = labels.find(read_string(node, "after"));
  if (found != labels.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [label, id] : labels) known.push_back(label);
  refuse(node, "after", concat("the labels ", join(known, ", ")));
}

std::vector<StepId> read_after(const Node& step, const Labels& labels) {
  std::vector<StepId> after;
  for (const NodePair& pair : *step.map()) {
    if (*pair.key.scalar() != "after") continue;
    if (pair.value.list() == nullptr) return {find_label(pair.value, labels)};
    for (const Node& label : *pair.value.list()) after.push_back(find_label(label, labels));
  }
  return after;
}

/// Plays the order of release without running anything.
void check_that_all_steps_are_released(const std::vector<std::vector<Step>>& programs) {
  std::vector<int> done(programs.size(), 0);
  for (bool has_progress = true; has_progress;) {
    has_progress = false;
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      if (done[rank] == static_cast<int>(programs[rank].size())) continue;
      const Step& next = programs[rank][static_cast<std::size_t>(done[rank])];
      const bool is_released = std::ranges::all_of(next.after, [&](const StepId& id) {
        return done[static_cast<std::size_t>(id.rank)] > id.index;
      });
      if (!is_released) continue;
      ++done[rank];
      has_progress = true;
    }
  }
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    if (done[rank] == static_cast<int>(programs[rank].size())) continue;
    const Step& stuck = programs[rank][static_cast<std::size_t>(done[rank])];
    throw InputError(concat(to_string(stuck.where),
                            ": in after: this step waits in a circle and is never released"));
  }
}

}  // namespace

void parse_release_order(const std::vector<Node>& programs,
                         std::vector<std::vector<Step>>& parsed) {
  const Labels labels = collect_labels(programs);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (std::size_t index = 0; index < parsed[rank].size(); ++index) {
      parsed[rank][index].after = read_after((*programs[rank].list())[index], labels);
    }
  }
  check_that_all_steps_are_released(parsed);
}

}  // namespace tdconf
