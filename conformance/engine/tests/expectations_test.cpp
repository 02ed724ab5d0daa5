// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/expectations.h"

#include <gmock/gmock.h>

#include <fstream>

#include "values/text.h"

namespace tdconf {
namespace {

using ::testing::HasSubstr;

std::string written(const std::string& yaml) {
  const std::string path = ::testing::TempDir() + "/expectations.yaml";
  std::ofstream(path) << yaml;
  return path;
}

std::vector<Case> cases_named(const std::vector<std::string>& names) {
  std::vector<Case> cases;
  for (const std::string& name : names) cases.emplace_back().name = name;
  return cases;
}

std::string error_of(const std::string& yaml, const std::vector<Case>& cases) {
  try {
    load_expectations(written(yaml), cases);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

const std::string kEntry = "- {match: a/x, status: fail, signature: s, reason: r}\n";

TEST(Expectations, AreRead) {
  const auto cases = cases_named({"a/x", "a/y"});
  const auto expectations =
      load_expectations(written("- match: a/*\n  status: hang\n  signature: no answer\n  reason: "
                                "because\n  link: \"#1\"\n"),
                        cases);
  ASSERT_EQ(expectations.size(), 1U);
  EXPECT_EQ(expectations[0].status, Verdict::kHang);
  EXPECT_EQ(expectations[0].link, "#1");
  EXPECT_EQ(find_expectation(expectations, cases[1]), &expectations[0]);
  EXPECT_TRUE(stale(expectations, cases).empty());
}

TEST(Expectations, AnEntryWithoutACaseIsStale) {
  const auto expectations = load_expectations(written(kEntry), cases_named({"b"}));
  const auto entries = stale(expectations, cases_named({"b"}));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].match, "a/x");
}

TEST(Expectations, InvalidEntriesAreRefused) {
  const auto cases = cases_named({"a/x"});
  EXPECT_THAT(error_of("- {match: a/x, status: fail, signature: s}\n", cases),
              HasSubstr("`reason` is missing"));
  EXPECT_THAT(error_of("- {match: a/x, status: fail, signature: s, reason: \"\"}\n", cases),
              HasSubstr("in reason"));
  EXPECT_THAT(error_of("- {match: a/x, status: error, signature: s, reason: r}\n", cases),
              HasSubstr("expectations.yaml:1: in status: got \"error\", allowed: fail, hang, "
                        "crash, unsupported"));
  EXPECT_THAT(error_of("- {match: a/x, status: fail, signature: s, reason: r, bug: b}\n", cases),
              HasSubstr("got key \"bug\""));
  EXPECT_THAT(error_of(kEntry + kEntry, cases),
              HasSubstr("expectations.yaml:2: in match: got a second entry for a/x"));
}

TEST(Expectations, AWildcardCoversTwentyCasesAtMost) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(concat("a/", i));
  const std::string wildcard = "- {match: a/*, status: fail, signature: s, reason: r}\n";
  EXPECT_EQ(error_of(wildcard, cases_named(names)), "no error");
  names.emplace_back("a/20");
  EXPECT_THAT(error_of(wildcard, cases_named(names)), HasSubstr("covers 21 cases"));
}

Outcome weighed(Verdict verdict,
                const std::string& signature,
                const Expectation* listed,
                Level level = Level::kMust) {
  return weigh({verdict, signature, {}}, level, listed);
}

TEST(Weigh, WithoutAnEntry) {
  EXPECT_EQ(weighed(Verdict::kPass, "", nullptr), Outcome::kAsExpected);
  EXPECT_EQ(weighed(Verdict::kFail, "s", nullptr), Outcome::kUnexpected);
  EXPECT_EQ(weighed(Verdict::kCrash, "s", nullptr), Outcome::kUnexpected);
  EXPECT_EQ(weighed(Verdict::kHang, "s", nullptr), Outcome::kUnexpected);
  EXPECT_EQ(weighed(Verdict::kUnsupported, "s", nullptr), Outcome::kNoVerdict);
  EXPECT_EQ(weighed(Verdict::kError, "s", nullptr), Outcome::kNoVerdict);
  EXPECT_EQ(weighed(Verdict::kNotRun, "s", nullptr), Outcome::kNoVerdict);
}

TEST(Weigh, WithAnEntry) {
  Expectation listed;
  listed.status = Verdict::kFail;
  listed.signature = "timed out";
  EXPECT_EQ(weighed(Verdict::kFail, "rank 1: timed out after 3 s", &listed), Outcome::kAsExpected);
  EXPECT_EQ(weighed(Verdict::kFail, "rank 1: another thing", &listed), Outcome::kOutOfDate);
  EXPECT_EQ(weighed(Verdict::kPass, "", &listed), Outcome::kOutOfDate);
  EXPECT_EQ(weighed(Verdict::kHang, "timed out", &listed), Outcome::kUnexpected);
  EXPECT_EQ(weighed(Verdict::kCrash, "timed out", &listed), Outcome::kUnexpected);
  EXPECT_EQ(weighed(Verdict::kUnsupported, "timed out", &listed), Outcome::kNoVerdict);
  EXPECT_EQ(weighed(Verdict::kError, "timed out", &listed), Outcome::kNoVerdict);
}

TEST(Weigh, AMilderStatusThanListedIsOutOfDate) {
  Expectation listed;
  listed.status = Verdict::kHang;
  listed.signature = "s";
  EXPECT_EQ(weighed(Verdict::kFail, "s", &listed), Outcome::kOutOfDate);
  EXPECT_EQ(weighed(Verdict::kCrash, "s", &listed), Outcome::kUnexpected);
  listed.status = Verdict::kUnsupported;
  EXPECT_EQ(weighed(Verdict::kUnsupported, "s", &listed), Outcome::kAsExpected);
  EXPECT_EQ(weighed(Verdict::kFail, "s", &listed), Outcome::kUnexpected);
}

TEST(Weigh, ObservingHasNoWrongOutcome) {
  EXPECT_EQ(weighed(Verdict::kFail, "s", nullptr, Level::kObserve), Outcome::kAsExpected);
  EXPECT_EQ(weighed(Verdict::kCrash, "s", nullptr, Level::kObserve), Outcome::kAsExpected);
  EXPECT_EQ(weighed(Verdict::kError, "s", nullptr, Level::kObserve), Outcome::kNoVerdict);
}

}  // namespace
}  // namespace tdconf
