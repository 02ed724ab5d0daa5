// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_transcript.h"

#include <algorithm>
#include <string>

#include "values/text.h"

namespace tdconf {
namespace {

/// Making a value and consolidating it are not what a case looks at.
bool counts(const std::vector<Step>& program, const Event& event) {
  if (!event.step) return true;
  const std::string& op = program.at(static_cast<std::size_t>(*event.step)).op;
  return op != "make" && op != "consolidate";
}

std::string show_calls(const std::vector<std::string>& calls) {
  return calls.empty() ? "none" : join(calls, ", ");
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
  void check_calls(const std::vector<std::string>& expected) {
    std::vector<const Event*> calls;
    std::vector<std::string> got;
    for (const Event* event : events_) {
      if (!is_collective(*event)) continue;
      calls.push_back(event);
      got.push_back(event->event);
    }
    if (got == expected) return;
    const auto [unexpected, missing] = std::ranges::mismatch(got, expected);
    report(unexpected == got.end() ? nullptr
                                   : calls[static_cast<std::size_t>(unexpected - got.begin())],
           "collective calls",
           show_calls(expected),
           show_calls(got));
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
