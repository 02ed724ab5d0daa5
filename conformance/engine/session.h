// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/judge/expectations.h"
#include "engine/judge/results.h"
#include "engine/play/fleet.h"

namespace tdconf {

struct SessionOptions {
  std::string implementation;
  FleetOptions fleet;
  /// Ranks played by another adapter than the implementation under test; roles of a case win.
  std::map<int, std::string> assign;
  std::vector<Expectation> expectations;
  double timeout_scale = 1;
  /// Whether results hold all that was said and done in a case.
  bool trace = false;
  /// What comes before `--run CASE` in the command that repeats a case.
  std::string repeat_command;
  /// An empty folder for the stores of the groups.
  std::string store_folder;
};

/// Runs cases one after another with adapters that stay up.
class Session {
 public:
  explicit Session(SessionOptions options);

  /// Musters the players of a case, plays it, judges it, and replaces its ranks unless it passed.
  ///
  /// Errors  Interrupted.
  CaseResult run(const Case& c);

  /// A result for a case that is not run.
  CaseResult not_run(const Case& c, const std::string& reason);

  Fleet& fleet() { return fleet_; }

 private:
  CaseResult describe_case(const Case& c);
  void play_and_judge(const Case& c, const std::vector<Adapter*>& adapters, CaseResult& result);
  std::chrono::milliseconds deadline_of(const Case& c, const Expectation* listed) const;

  SessionOptions options_;
  Fleet fleet_;
  int next_store_ = 0;
};

/// Names the adapter that plays each rank.
std::vector<Player> players_of(const Case& c,
                               const std::string& implementation,
                               const std::map<int, std::string>& assign);

}  // namespace tdconf
