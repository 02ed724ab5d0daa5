// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/judge/judge.h"

namespace tdconf {

/// A known deviation of one implementation.
struct Expectation {
  /// A pattern over expanded names; a wildcard may cover at most 20 cases.
  std::string match;
  Verdict status = Verdict::kFail;
  /// Text that the signature must hold.
  std::string signature;
  std::string reason;
  std::string link;
  Location where;
};

/// Reads the expectations of one implementation and checks them against all cases that there are.
///
/// Errors  InputError: unknown or missing keys, a wildcard over more than 20 cases, two entries for
///         one case.
std::vector<Expectation> load_expectations(const std::string& path, const std::vector<Case>& cases);

/// Returns the entries that match no case.
std::vector<Expectation> stale(const std::vector<Expectation>& expectations,
                               const std::vector<Case>& cases);

/// Returns the entry for a case, or null.
const Expectation* find_expectation(const std::vector<Expectation>& expectations, const Case& c);

/// What a verdict means for the exit status, from the mildest to the worst.
enum class Outcome { kAsExpected, kOutOfDate, kNoVerdict, kUnexpected };

/// Weighs a verdict against the entry for the case, which may be null.
///
/// Order   as expected: a pass without entry, or the listed status with the listed signature.
///         out of date: a pass or a milder status than listed, or another signature.
///         no verdict: an error, a case that did not run, or an unlisted unsupported.
///         unexpected: all else. Cases of level `observe` have no wrong outcome.
Outcome weigh(const Judgement& judgement, Level level, const Expectation* listed);

}  // namespace tdconf
