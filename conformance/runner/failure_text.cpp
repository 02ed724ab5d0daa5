// SPDX-License-Identifier: BSD-3-Clause
#include "runner/failure_text.h"

#include <sstream>

#include "values/text.h"

namespace tdconf {
namespace {

std::string verdict_line(const CaseResult& result) {
  const std::string verdict = to_string(result.judgement.verdict);
  if (result.listed == nullptr) return verdict;
  const Expectation& listed = *result.listed;
  std::string line = concat(verdict,
                            ", but ",
                            to_string(listed.where),
                            " lists `",
                            listed.match,
                            "` as ",
                            to_string(listed.status),
                            " with `",
                            listed.signature,
                            "`");
  if (result.outcome == Outcome::kOutOfDate) line += "; the entry is out of date";
  return line;
}

void indent(std::ostringstream& text, const std::string& block) {
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) text << "    " << line << '\n';
}

}  // namespace

std::string failure_text(const Case& c, const CaseResult& result) {
  std::ostringstream text;
  text << result.name << ": " << verdict_line(result) << '\n';
  text << "  says: " << c.says << '\n';
  text << "  clauses: " << join(result.clauses, ", ") << '\n';
  if (result.judgement.findings.empty() && !result.judgement.signature.empty()) {
    text << "  " << result.judgement.signature << '\n';
  }
  for (const Finding& finding : result.judgement.findings) {
    text << "  " << to_string(finding.verdict) << ": " << finding.text << '\n';
  }
  for (std::size_t rank = 0; rank < result.record.ranks.size(); ++rank) {
    if (!result.record.ranks[rank].stacks) continue;
    text << "  stacks of rank " << rank << ":\n";
    indent(text, *result.record.ranks[rank].stacks);
  }
  for (std::size_t rank = 0; rank < result.log_tails.size(); ++rank) {
    if (result.log_tails[rank].empty()) continue;
    text << "  end of the log of rank " << rank << " (" << result.players[rank] << "):\n";
    indent(text, result.log_tails[rank]);
  }
  text << "  repeat: " << result.repeat;
  return text.str();
}

}  // namespace tdconf
