// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/judge.h"

#include <algorithm>
#include <array>

#include "engine/case/operation.h"
#include "engine/judge/calls.h"
#include "engine/judge/check.h"
#include "engine/judge/check_wire.h"
#include "engine/judge/waits.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// From the worst to the mildest.
constexpr std::array kPrecedence{
    Verdict::kCrash, Verdict::kError, Verdict::kFail, Verdict::kUnsupported, Verdict::kHang};

/// Whether an operation can answer in this form at all.
bool is_possible(Answers answers, const Returned& value) {
  switch (answers) {
    case Answers::kSnapshot:
      return std::holds_alternative<Snapshot>(value);
    case Answers::kTensor:
      return std::holds_alternative<SeenTensor>(value);
    case Answers::kWorks:
      return std::holds_alternative<WorksValue>(value);
    case Answers::kBuffers:
      return std::holds_alternative<BuffersValue>(value);
    case Answers::kNone:
      return std::holds_alternative<NoValue>(value);
    case Answers::kWhatTheImplementationReturns:
      break;
  }
  return std::holds_alternative<NoValue>(value) || std::holds_alternative<IntegerValue>(value) ||
         std::holds_alternative<WorksValue>(value) || std::holds_alternative<HeldValue>(value) ||
         std::holds_alternative<HeldValues>(value);
}

class RankJudge {
 public:
  RankJudge(const Case& c, int rank, const Record& all, std::vector<Finding>& findings)
      : case_(c),
        rank_(rank),
        all_(all),
        record_(all.ranks[static_cast<std::size_t>(rank)]),
        findings_(findings) {}

  void judge() {
    if (record_.join) judge_refusal(std::nullopt, *record_.join);
    std::vector<Answer> answers;
    for (std::size_t index = 0; index < record_.answers.size(); ++index) {
      answers.push_back(record_.answers[index]);
      judge_step(static_cast<int>(index), answers);
    }
    if (record_.violation) report(Verdict::kError, record_.in_flight, *record_.violation);
    if (record_.has_crashed) report(Verdict::kCrash, record_.in_flight, describe(*record_.exit));
    if (all_.is_hung && has_not_answered(record_)) {
      report(Verdict::kHang,
             record_.in_flight,
             concat("no answer within ", all_.deadline.count(), " ms"));
    } else if (record_.is_silent) {
      // Somebody else ended the case, who need not be the cause.
      report(Verdict::kHang, record_.in_flight, kSilence);
    }
  }

  void report(std::optional<int> step, const Difference& difference) {
    add(Verdict::kFail, step, difference);
  }

 private:
  void judge_step(int index, const std::vector<Answer>& answers) {
    const Step& step = program_step(index);
    const Answer& answer = answers.back();
    if (const auto* raised = std::get_if<Raised>(&answer);
        raised != nullptr && !step.expect.raises.empty()) {
      judge_category(index, *raised, step.expect.raises);
      return judge_blocking(index, "raised");
    }
    const auto* returned = std::get_if<Returned>(&answer);
    if (returned == nullptr) return judge_refusal(index, answer);
    if (!is_possible(find_operation(step.op)->answers, *returned)) {
      return report(
          Verdict::kError, index, concat(describe(answer), ", which this operation cannot answer"));
    }
    if (!step.expect.raises.empty()) return report_not_raised(index, step.expect.raises, answer);
    for (const Difference& difference : check_returned(step, answers)) report(index, difference);
    judge_blocking(index, "returned");
  }

  /// A step that blocks another is answered after the release of that one.
  void judge_blocking(int index, const char* verb) {
    const std::optional<StepId>& blocked = program_step(index).expect.blocks;
    if (!blocked) return;
    const auto& released = all_.ranks[static_cast<std::size_t>(blocked->rank)].released;
    const auto at = static_cast<std::size_t>(blocked->index);
    const int answered = record_.answered.at(static_cast<std::size_t>(index));
    if (at < released.size() && released[at] < answered) return;
    const std::string other = describe_step(case_, *blocked);
    report(index,
           {.expected = concat("an answer after the release of ", other),
            .got = "one before it",
            .text = concat(verb, " before ", other, " was released, must block until then")});
  }

  void judge_category(int index, const Raised& raised, const std::vector<std::string>& allowed) {
    if (std::ranges::find(allowed, raised.category) != allowed.end()) return;
    report_not_raised(index, allowed, raised);
  }

  void report_not_raised(int index, const std::vector<std::string>& allowed, const Answer& answer) {
    const std::string wanted = join(allowed, " or ");
    const std::string got = describe(answer);
    report(index,
           {.expected = concat("raises ", wanted),
            .got = got,
            .text = concat("expected to raise ", wanted, " but ", got)});
  }

  /// An answer to a join or a step that brings nothing to compare.
  void judge_refusal(std::optional<int> step, const Answer& answer) {
    if (std::holds_alternative<Joined>(answer)) return;
    if (const auto* unsupported = std::get_if<Unsupported>(&answer)) {
      const bool is_claimed = record_.capabilities.contains(unsupported->what);
      return report(
          is_claimed ? Verdict::kFail : Verdict::kUnsupported,
          step,
          concat("unsupported ", unsupported->what, is_claimed ? ", although it claims that" : ""));
    }
    const bool is_behaviour = std::holds_alternative<Raised>(answer);
    report(is_behaviour ? Verdict::kFail : Verdict::kError, step, describe(answer));
  }

  void report(Verdict verdict, std::optional<int> step, const std::string& text) {
    add(verdict, step, {.text = text});
  }

  void add(Verdict verdict, std::optional<int> step, const Difference& difference) {
    Finding finding{verdict, rank_, step, "", difference, ""};
    std::string place = concat("rank ", rank_);
    const bool has_joined = record_.join && std::holds_alternative<Joined>(*record_.join);
    if (step) {
      finding.op = program_step(*step).op;
      place = describe_step(case_, {rank_, *step});
    } else if (!has_joined) {
      finding.op = "join";
      place += " (join)";
    }
    finding.text = concat(place, ": ", first_line(difference.text));
    findings_.push_back(std::move(finding));
  }

  const Step& program_step(int index) const {
    return case_.programs[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(index)];
  }

  /// Exceptions bring long texts with stacks; the first line is what tells them apart.
  static std::string first_line(const std::string& text) {
    constexpr std::size_t kShown = 300;
    return beginning_of(text.substr(0, text.find('\n')), kShown);
  }

  const Case& case_;
  int rank_;
  const Record& all_;
  const RankRecord& record_;
  std::vector<Finding>& findings_;
};

/// Says in the findings of a hang who waits for whom.
void explain(const Case& c, const Record& record, Judgement& judgement) {
  judgement.hang = explain_hang(c, record);
  for (Finding& finding : judgement.findings) {
    const auto waiting = std::ranges::find(judgement.hang->ranks, finding.rank, &WaitingRank::rank);
    if (finding.verdict == Verdict::kHang) finding.text += concat(": ", waiting->sentence);
  }
}

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kCrash:
      return "crash";
    case Verdict::kHang:
      return "hang";
    case Verdict::kUnsupported:
      return "unsupported";
    case Verdict::kError:
      return "error";
    case Verdict::kNotRun:
      return "not_run";
  }
  return "";
}

Judgement judge(const Case& c, const Record& record) {
  Judgement judgement;
  std::vector<RankJudge> ranks;
  for (int rank = 0; rank < static_cast<int>(record.ranks.size()); ++rank) {
    ranks.emplace_back(c, rank, record, judgement.findings).judge();
  }
  for (const WireDifference& found : check_wire(c, record)) {
    ranks[static_cast<std::size_t>(found.rank)].report(found.step, found.difference);
  }
  if (record.is_hung) explain(c, record, judgement);
  for (const Verdict verdict : kPrecedence) {
    const auto decisive = std::ranges::find(judgement.findings, verdict, &Finding::verdict);
    if (decisive == judgement.findings.end()) continue;
    judgement.verdict = verdict;
    judgement.signature = decisive->text;
    break;
  }
  return judgement;
}

}  // namespace tdconf
