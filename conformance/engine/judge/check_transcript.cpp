// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_transcript.h"

#include <algorithm>
#include <string>

#include "engine/judge/contents.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// Making a value and consolidating it are not what a case looks at.
bool counts(const std::vector<Step>& program, const Event& event) {
  if (!event.step) return true;
  const std::string& op = program.at(static_cast<std::size_t>(*event.step)).op;
  return op != "make" && op != "consolidate";
}

std::string show_names(const std::vector<std::string>& names) {
  return names.empty() ? "none" : join(names, ", ");
}

/// Writes `broadcast (int64, 8 bytes, root 0)` with what is said of the call.
std::string show(const ExpectedCall& call) {
  std::vector<std::string> said;
  if (call.dtype != nullptr) said.emplace_back(call.dtype->name);
  if (call.bytes) said.push_back(concat(*call.bytes, " bytes"));
  if (call.root) said.push_back(concat("root ", *call.root));
  if (call.group) said.push_back(concat("group ", *call.group));
  return concat(call.name, " (", join(said, ", "), ")");
}

/// Writes of a call what is said of the one that was expected.
std::string show(const Event& event, const ExpectedCall& expected) {
  std::vector<std::string> said;
  if (expected.dtype != nullptr) said.push_back(event.dtype);
  if (expected.bytes) said.push_back(concat(event.bytes, " bytes"));
  if (expected.root) said.push_back(event.peer ? concat("root ", *event.peer) : "no root");
  if (expected.group) said.push_back(concat("group ", event.group));
  return concat(event.event, " (", join(said, ", "), ")");
}

bool is_as(const ExpectedCall& expected, const Event& event) {
  return (expected.dtype == nullptr || is_reported_as(*expected.dtype, event.dtype)) &&
         (!expected.bytes || event.bytes == *expected.bytes) &&
         (!expected.root || event.peer == *expected.root) &&
         (!expected.group || event.group == *expected.group);
}

class TranscriptCheck {
 public:
  TranscriptCheck(int rank, const std::vector<Step>& program, const Transcript& transcript)
      : rank_(rank) {
    for (const Event& event : transcript) {
      if (counts(program, event)) events_.push_back(&event);
    }
  }

  std::vector<WireDifference> run(const ExpectedTranscript& expected) {
    if (expected.calls) check_calls(*expected.calls);
    if (expected.pickles) check_count("pickle", "pickles", *expected.pickles);
    if (expected.consolidations) {
      check_count("consolidate", "consolidations", *expected.consolidations);
    }
    return std::move(differences_);
  }

 private:
  void check_calls(const std::vector<ExpectedCall>& expected) {
    std::vector<const Event*> calls;
    std::vector<std::string> got;
    for (const Event* event : events_) {
      if (!is_collective(*event)) continue;
      calls.push_back(event);
      got.push_back(event->event);
    }
    std::vector<std::string> names;
    for (const ExpectedCall& call : expected) names.push_back(call.name);
    if (got != names) {
      const auto [unexpected, missing] = std::ranges::mismatch(got, names);
      const auto at = static_cast<std::size_t>(unexpected - got.begin());
      return report(unexpected == got.end() ? nullptr : calls[at],
                    "collective calls",
                    show_names(names),
                    show_names(got));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (is_as(expected[i], *calls[i])) continue;
      return report(calls[i],
                    concat("collective call ", i + 1, ":"),
                    show(expected[i]),
                    show(*calls[i], expected[i]));
    }
  }

  void check_count(const char* kind, const char* what, std::int64_t expected) {
    const Event* last = nullptr;
    std::int64_t count = 0;
    for (const Event* event : events_) {
      if (event->event != kind) continue;
      last = event;
      ++count;
    }
    if (count == expected) return;
    report(
        count > expected ? last : nullptr, what, std::to_string(expected), std::to_string(count));
  }

  /// `event` is what is too much, or null when something is missing.
  void report(const Event* event,
              const std::string& what,
              const std::string& expected,
              const std::string& got) {
    const std::optional<int> step = event == nullptr ? std::nullopt : event->step;
    differences_.push_back({rank_, step, differ("", what, expected, got)});
  }

  int rank_;
  std::vector<const Event*> events_;
  std::vector<WireDifference> differences_;
};

}  // namespace

std::vector<WireDifference> check_transcript(const Case& c, const Record& record) {
  std::vector<WireDifference> differences;
  for (const auto& [rank, expected] : c.transcripts) {
    const auto at = static_cast<std::size_t>(rank);
    const std::optional<Transcript>& transcript = record.ranks.at(at).transcript;
    if (!transcript) continue;
    for (WireDifference& difference :
         TranscriptCheck(rank, c.programs.at(at), *transcript).run(expected)) {
      differences.push_back(std::move(difference));
    }
  }
  return differences;
}

}  // namespace tdconf
