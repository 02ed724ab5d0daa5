// SPDX-License-Identifier: BSD-3-Clause
#include "engine/session.h"

#include <algorithm>
#include <filesystem>

#include "engine/play/close.h"
#include "engine/play/debugger.h"
#include "engine/play/play.h"
#include "values/text.h"

namespace tdconf {
namespace {

using std::chrono::milliseconds;

/// Known hangs cost no more than this.
constexpr milliseconds kListedHangDeadline{3'000};
constexpr milliseconds kEndLimit{10'000};

milliseconds scaled(milliseconds duration, double scale) {
  return std::chrono::duration_cast<milliseconds>(duration * scale);
}

bool is_known_hang(const Expectation* listed) {
  return listed != nullptr && listed->status == Verdict::kHang;
}

/// Lists what the players do not claim, one finding for each.
std::vector<Finding> missing_capabilities(const Case& c, const std::vector<Adapter*>& adapters) {
  std::vector<Finding> missing;
  for (std::size_t rank = 0; rank < adapters.size(); ++rank) {
    for (const std::string& needed : needed_capabilities(c, static_cast<int>(rank))) {
      if (claims(*adapters[rank]->hello(), needed)) continue;
      const std::string text = concat("rank ", rank, ": does not claim ", needed);
      missing.push_back({Verdict::kUnsupported,
                         static_cast<int>(rank),
                         std::nullopt,
                         "",
                         {.expected = needed, .got = "no claim", .text = text},
                         text});
    }
  }
  return missing;
}

std::vector<std::string> observations(const Case& c, const Record& record) {
  std::vector<std::string> observed;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    for (std::size_t index = 0; index < record.ranks[rank].answers.size(); ++index) {
      const StepId id{static_cast<int>(rank), static_cast<int>(index)};
      observed.push_back(
          concat(describe_step(c, id), ": ", describe(record.ranks[rank].answers[index])));
    }
  }
  return observed;
}

}  // namespace

std::vector<Player> players_of(const Case& c,
                               const std::string& implementation,
                               const std::map<int, std::string>& assign) {
  std::vector<Player> players;
  for (int rank = 0; rank < c.world; ++rank) {
    std::string name = implementation;
    if (const auto assigned = assign.find(rank); assigned != assign.end()) name = assigned->second;
    if (const auto role = c.roles.find(rank); role != c.roles.end()) name = role->second;
    players.push_back({name, rank});
  }
  return players;
}

Session::Session(SessionOptions options) : options_(std::move(options)), fleet_(options_.fleet) {}

CaseResult Session::describe_case(const Case& c) {
  CaseResult result;
  result.name = c.name;
  result.implementation = options_.implementation;
  for (const Player& player : players_of(c, options_.implementation, options_.assign)) {
    result.players.push_back(player.name);
  }
  result.has_trace = options_.trace;
  result.level = c.level;
  result.clauses = c.clauses;
  result.says = c.says;
  result.broken_by = c.broken_by;
  result.listed = find_expectation(options_.expectations, c);
  result.repeat = concat(options_.repeat_command, " --run '", c.name, "'");
  return result;
}

CaseResult Session::run(const Case& c) {
  CaseResult result = describe_case(c);
  try {
    const std::vector<Adapter*> adapters =
        fleet_.muster(players_of(c, options_.implementation, options_.assign));
    // The start of a process, which the case before this one may have cost, is not this case's time.
    const Clock::time_point start = Clock::now();
    play_and_judge(c, adapters, result);
    result.ms = std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
  } catch (const StartError& error) {
    const std::string text = error.what();
    result.judgement = {Verdict::kError, text.substr(0, text.find('\n')), {}};
    result.log_tails = {text};
  }
  result.outcome = weigh(result.judgement, c.level, result.listed);
  return result;
}

CaseResult Session::not_run(const Case& c, const std::string& reason) {
  CaseResult result = describe_case(c);
  result.judgement = {Verdict::kNotRun, reason, {}};
  result.outcome = weigh(result.judgement, c.level, result.listed);
  return result;
}

milliseconds Session::deadline_of(const Case& c, const Expectation* listed) const {
  const milliseconds deadline =
      is_known_hang(listed) ? std::min(c.deadline, kListedHangDeadline) : c.deadline;
  return scaled(deadline, options_.timeout_scale);
}

void Session::play_and_judge(const Case& c,
                             const std::vector<Adapter*>& adapters,
                             CaseResult& result) {
  const std::vector<Finding> missing = missing_capabilities(c, adapters);
  if (!missing.empty()) {
    result.judgement = {Verdict::kUnsupported, missing.front().text, missing};
    return;
  }
  const std::string store = concat(options_.store_folder, "/", next_store_++);
  const milliseconds end_limit = scaled(kEndLimit, options_.timeout_scale);
  Record& record = result.record;
  record = play(c,
                adapters,
                fleet_,
                {.deadline = deadline_of(c, result.listed),
                 .end_limit = end_limit,
                 .store_path = store,
                 .keeps_messages = options_.trace});
  result.judgement = judge(c, record);
  if (result.judgement.verdict == Verdict::kPass) {
    reset_ranks(adapters, fleet_, end_limit, record);
    result.judgement = judge(c, record);
  }
  const bool is_news = weigh(result.judgement, c.level, result.listed) != Outcome::kAsExpected;
  if (record.is_hung && (options_.trace || is_news)) {
    add_debugger_stacks(adapters, {.folder = options_.fleet.log_folder}, record);
  }
  if (c.level == Level::kObserve) result.observed = observations(c, record);
  if (result.judgement.verdict != Verdict::kPass) {
    for (Adapter* adapter : adapters) result.log_tails.push_back(tail_of(adapter->log_path()));
    kill_ranks(adapters, fleet_, record);
  }
  std::error_code already_gone;
  std::filesystem::remove(store, already_gone);
}

}  // namespace tdconf
