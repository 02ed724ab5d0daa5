// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/judge/expectations.h"
#include "engine/judge/judge.h"

namespace tdconf {

/// All that is reported of one case.
struct CaseResult {
  std::string name;
  std::string implementation;
  std::vector<std::string> players;
  Level level = Level::kMust;
  std::vector<std::string> clauses;
  std::string says;
  std::optional<std::string> broken_by;
  Judgement judgement;
  Outcome outcome = Outcome::kAsExpected;
  const Expectation* listed = nullptr;
  Record record;
  /// The ends of the logs of its ranks, for the eyes of a person.
  std::vector<std::string> log_tails;
  /// What each step answered, one line each; only of cases that observe.
  std::vector<std::string> observed;
  std::int64_t ms = 0;
  std::string repeat;
};

/// Writes `results.jsonl`: a header, a line for each case, a footer. Each line is flushed, so that
/// what was written survives whatever happens to this process.
class ResultsWriter {
 public:
  /// Errors  InputError: the file cannot be written.
  explicit ResultsWriter(const std::string& path);

  void write_header(nlohmann::json fields);
  void write_case(const CaseResult& result);
  void write_footer(nlohmann::json fields);

 private:
  void write(const nlohmann::json& line);

  std::ofstream file_;
  std::map<std::string, int> counts_;
};

nlohmann::json to_json(const CaseResult& result);

}  // namespace tdconf
