// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/release.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// Every label of the case, as `RANK.LABEL`.
using Labels = std::map<std::string, StepId>;

Labels collect_labels(const std::vector<std::vector<Step>>& programs) {
  Labels labels;
  for (int rank = 0; rank < static_cast<int>(programs.size()); ++rank) {
    int index = 0;
    for (const Step& step : programs[static_cast<std::size_t>(rank)]) {
      const std::string label = concat(rank, ".", step.label);
      if (!step.label.empty() && !labels.emplace(label, StepId{rank, index}).second) {
        refuse(
            step.where, "label", concat("`", step.label, "` again"), "each label once in a rank");
      }
      ++index;
    }
  }
  return labels;
}

StepId find_label(const Node& node, const char* what, const Labels& labels) {
  const auto found = labels.find(read_string(node, what));
  if (found != labels.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [label, id] : labels) known.push_back(label);
  refuse(node, what, concat("the labels ", join(known, ", ")));
}

std::vector<StepId> read_after(const Node& step, const Labels& labels) {
  const Node* node = find_key(step, "after");
  if (node == nullptr) return {};
  if (node->list() == nullptr) return {find_label(*node, "after", labels)};
  std::vector<StepId> after;
  for (const Node& label : *node->list()) after.push_back(find_label(label, "after", labels));
  return after;
}

std::optional<StepId> read_blocks(const Node& step, int rank, const Labels& labels) {
  const Node* expect = find_key(step, "expect");
  const Node* node = expect == nullptr ? nullptr : find_key(*expect, "blocks");
  if (node == nullptr) return std::nullopt;
  const StepId blocked = find_label(*node, "blocks", labels);
  // A rank takes one step after another, so that its own steps tell nothing.
  if (blocked.rank == rank) refuse(*node, "blocks", "a step of another rank");
  return blocked;
}

/// Plays the order of release without running anything.
class Rehearsal {
 public:
  explicit Rehearsal(const std::vector<std::vector<Step>>& programs)
      : programs_(programs), released_(programs.size(), 0), answered_(programs.size(), 0) {}

  /// Errors  InputError: a step that is never released or never answered.
  void run() {
    for (bool has_progress = true; has_progress;) {
      has_progress = false;
      for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
        has_progress = advance(rank) || has_progress;
      }
    }
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      if (released_[rank] == answered_[rank]) continue;
      refuse_circle(rank, "blocks", "blocks a step that waits for it in a circle");
    }
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      if (answered_[rank] == programs_[rank].size()) continue;
      refuse_circle(rank, "after", "waits in a circle and is never released");
    }
  }

 private:
  bool advance(std::size_t rank) {
    if (answered_[rank] == programs_[rank].size()) return false;
    const Step& next = programs_[rank][answered_[rank]];
    if (released_[rank] == answered_[rank]) {
      if (!can_be_released(next, {static_cast<int>(rank), static_cast<int>(answered_[rank])})) {
        return false;
      }
      ++released_[rank];
      return true;
    }
    if (next.expect.blocks && !is_past(released_, *next.expect.blocks)) return false;
    ++answered_[rank];
    return true;
  }

  bool can_be_released(const Step& step, const StepId& id) const {
    const auto is_answered = [&](const StepId& other) { return is_past(answered_, other); };
    if (!std::ranges::all_of(step.after, is_answered)) return false;
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      for (std::size_t index = 0; index < programs_[rank].size(); ++index) {
        const bool is_blocking = programs_[rank][index].expect.blocks == id;
        if (is_blocking && released_[rank] <= index) return false;
      }
    }
    return true;
  }

  static bool is_past(const std::vector<std::size_t>& counts, const StepId& id) {
    return counts[static_cast<std::size_t>(id.rank)] > static_cast<std::size_t>(id.index);
  }

  [[noreturn]] void refuse_circle(std::size_t rank, const char* key, const char* problem) const {
    const Step& stuck = programs_[rank][answered_[rank]];
    throw InputError(concat(to_string(stuck.where), ": in ", key, ": this step ", problem));
  }

  const std::vector<std::vector<Step>>& programs_;
  /// How many steps of each rank.
  std::vector<std::size_t> released_;
  std::vector<std::size_t> answered_;
};

}  // namespace

void parse_release_order(const std::vector<Node>& programs,
                         std::vector<std::vector<Step>>& parsed) {
  const Labels labels = collect_labels(parsed);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (std::size_t index = 0; index < parsed[rank].size(); ++index) {
      const Node& node = (*programs[rank].list())[index];
      Step& step = parsed[rank][index];
      step.after = read_after(node, labels);
      step.expect.blocks = read_blocks(node, static_cast<int>(rank), labels);
    }
  }
  Rehearsal(parsed).run();
}

}  // namespace tdconf
