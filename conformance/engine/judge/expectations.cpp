// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/expectations.h"

#include <algorithm>
#include <map>

#include "engine/case/pattern.h"
#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

constexpr std::int64_t kMaxCasesOfAWildcard = 20;

Verdict parse_status(const Node& node) {
  for (const Verdict verdict :
       {Verdict::kFail, Verdict::kHang, Verdict::kCrash, Verdict::kUnsupported}) {
    if (node.scalar() != nullptr && *node.scalar() == to_string(verdict)) return verdict;
  }
  refuse(node, "status", "fail, hang, crash, unsupported");
}

std::string parse_text(const Node& node, const char* what) {
  std::string text = read_string(node, what);
  if (text.empty()) refuse(node, what, "some text");
  return text;
}

Expectation parse_expectation(const Node& node) {
  MapReader reader(node, "an expectation");
  Expectation expectation;
  expectation.where = node.where;
  expectation.match = parse_text(reader.required("match"), "match");
  expectation.status = parse_status(reader.required("status"));
  expectation.signature = parse_text(reader.required("signature"), "signature");
  expectation.reason = parse_text(reader.required("reason"), "reason");
  if (const Node* link = reader.optional("link")) expectation.link = parse_text(*link, "link");
  reader.finish();
  return expectation;
}

void check_coverage(const std::vector<Expectation>& expectations, const std::vector<Case>& cases) {
  std::map<std::string, const Expectation*> covered;
  for (const Expectation& expectation : expectations) {
    std::int64_t count = 0;
    for (const Case& c : cases) {
      if (!matches(expectation.match, c.name)) continue;
      ++count;
      const auto [earlier, is_new] = covered.emplace(c.name, &expectation);
      if (!is_new) {
        refuse(
            expectation.where,
            "match",
            concat("a second entry for ", c.name, ", first at ", to_string(earlier->second->where)),
            "one entry for each case");
      }
    }
    if (count > kMaxCasesOfAWildcard) {
      refuse(expectation.where,
             "match",
             concat("`", expectation.match, "`, which covers ", count, " cases"),
             concat("wildcards over at most ", kMaxCasesOfAWildcard));
    }
  }
}

/// How bad a status is; a worse one than listed is no known deviation.
int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return 0;
    case Verdict::kUnsupported:
      return 1;
    case Verdict::kFail:
      return 2;
    case Verdict::kHang:
      return 3;
    default:
      return 4;
  }
}

}  // namespace

std::vector<Expectation> load_expectations(const std::string& path,
                                           const std::vector<Case>& cases) {
  std::vector<Expectation> expectations;
  for (const Node& document : parse_yaml_file(path)) {
    if (document.is_null()) continue;
    for (const Node& node : read_list(document, "the expectations")) {
      expectations.push_back(parse_expectation(node));
    }
  }
  check_coverage(expectations, cases);
  return expectations;
}

std::vector<Expectation> stale(const std::vector<Expectation>& expectations,
                               const std::vector<Case>& cases) {
  std::vector<Expectation> stale;
  std::ranges::copy_if(
      expectations, std::back_inserter(stale), [&](const Expectation& expectation) {
        return std::ranges::none_of(
            cases, [&](const Case& c) { return matches(expectation.match, c.name); });
      });
  return stale;
}

const Expectation* find_expectation(const std::vector<Expectation>& expectations, const Case& c) {
  const auto found = std::ranges::find_if(expectations, [&](const Expectation& expectation) {
    return matches(expectation.match, c.name);
  });
  return found == expectations.end() ? nullptr : &*found;
}

Outcome weigh(const Judgement& judgement, Level level, const Expectation* listed) {
  const Verdict verdict = judgement.verdict;
  if (verdict == Verdict::kError || verdict == Verdict::kNotRun) return Outcome::kNoVerdict;
  if (listed == nullptr) {
    if (verdict == Verdict::kPass || level == Level::kObserve) return Outcome::kAsExpected;
    return verdict == Verdict::kUnsupported ? Outcome::kNoVerdict : Outcome::kUnexpected;
  }
  if (verdict == listed->status) {
    const bool is_known = judgement.signature.find(listed->signature) != std::string::npos;
    return is_known ? Outcome::kAsExpected : Outcome::kOutOfDate;
  }
  if (verdict == Verdict::kUnsupported) return Outcome::kNoVerdict;
  return severity(verdict) < severity(listed->status) ? Outcome::kOutOfDate : Outcome::kUnexpected;
}

}  // namespace tdconf
