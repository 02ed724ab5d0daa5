// SPDX-License-Identifier: BSD-3-Clause
#include "runner/command_line.h"

#include <gmock/gmock.h>

#include "engine/input/node.h"
#include "runner/case_tests.h"
#include "runner/options.h"

namespace tdconf {
namespace {

using ::testing::ElementsAre;

TEST(SplitCommand, KnowsQuotesAndBackslashes) {
  EXPECT_THAT(split_command("a  b\tc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_command("'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(split_command("a'b'\"c\"d ''"), ElementsAre("abcd", ""));
  EXPECT_THAT(split_command(R"("a\"b" "c\d" 'e\f')"), ElementsAre("a\"b", "c\\d", "e\\f"));
}

TEST(SplitCommand, ExpandsNothing) {
  EXPECT_THAT(split_command("$HOME * ;"), ElementsAre("$HOME", "*", ";"));
}

TEST(SplitCommand, RefusesOpenQuotesAndNothing) {
  EXPECT_THROW(split_command("a 'b"), InputError);
  EXPECT_THROW(split_command("  "), InputError);
}

TEST(QuoteCommand, IsSplitIntoTheSameWords) {
  const std::vector<std::string> words{"a b", "it's", "", "p2p/**", "x=1", "\"q\"", "back\\slash"};
  EXPECT_EQ(split_command(quote_command(words)), words);
  EXPECT_EQ(quote_command({"plain", "a b"}), "plain 'a b'");
}

TEST(TestName, HasNoCharacterThatAFilterGivesAMeaning) {
  Case c;
  c.name = "p2p/isend-early/backend=cpu:gloo/x=0.5";
  EXPECT_EQ(test_name(c), "p2p.isend_early/backend=cpu_gloo/x=0_5");
}

const std::vector<std::string> kNeeded{"runner", "--fixtures", "f"};

Options parsed(std::vector<std::string> more) {
  more.insert(more.begin(), kNeeded.begin(), kNeeded.end());
  return parse_options(more);
}

TEST(ParseOptions, AdaptersAreSplitAndMayBeForkServers) {
  const Options options = parsed({"--adapter", "a=x 'y z'", "--adapter", "b=fork:p -m q"});
  EXPECT_THAT(options.adapters.at("a").argv, ElementsAre("x", "y z"));
  EXPECT_FALSE(options.adapters.at("a").is_fork_server);
  EXPECT_THAT(options.adapters.at("b").argv, ElementsAre("p", "-m", "q"));
  EXPECT_TRUE(options.adapters.at("b").is_fork_server);
}

TEST(ParseOptions, RanksAreAssignedByNumber) {
  const Options options = parsed({"--assign", "0=a,2=b"});
  EXPECT_THAT(options.assign, ElementsAre(std::pair(0, "a"), std::pair(2, "b")));
}

TEST(ParseOptions, PatternsAreTakenOneByOne) {
  const Options options = parsed({"--run", "a/**", "--run", "b/*", "--fixtures", "g"});
  EXPECT_THAT(options.selection.run, ElementsAre("a/**", "b/*"));
  EXPECT_THAT(options.fixtures, ElementsAre("f", "g"));
}

TEST(ParseOptions, WrongValuesAreInvalidInput) {
  EXPECT_THROW(parsed({"--adapter", "a"}), InputError);
  EXPECT_THROW(parsed({"--adapter", "a=x", "--adapter", "a=y"}), InputError);
  EXPECT_THROW(parsed({"--assign", "x=a"}), InputError);
  EXPECT_THROW(parsed({"--assign", "0=a,0=b"}), InputError);
  EXPECT_THROW(parsed({"--job", "2/2"}), InputError);
  EXPECT_THROW(parsed({"--environment", "no-such-file.json"}), InputError);
}

int status_of(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const CommandLineEnd& end) {
    return end.status;
  }
  return -1;
}

TEST(ParseOptions, TheModeIsToRunUnlessAFlagSaysOtherwise) {
  EXPECT_EQ(parsed({}).mode, Options::Mode::kRun);
  EXPECT_EQ(parsed({"--list"}).mode, Options::Mode::kList);
  EXPECT_EQ(parsed({"--describe"}).mode, Options::Mode::kDescribe);
  EXPECT_EQ(parsed({"--check"}).mode, Options::Mode::kCheck);
}

TEST(ParseOptions, UsageErrorsEndWithStatusTwo) {
  EXPECT_EQ(status_of({"runner"}), 2);
  EXPECT_EQ(status_of({"runner", "--fixtures", "f", "--no-such-option"}), 2);
  EXPECT_EQ(status_of({"runner", "--fixtures", "f", "--timeout-scale", "0"}), 2);
  EXPECT_EQ(status_of({"runner", "--fixtures", "f", "--list", "--check"}), 2);
  EXPECT_EQ(status_of({"runner", "--fixtures", "f", "--list", "--describe"}), 2);
  EXPECT_EQ(status_of({"runner", "--fixtures", "f", "--check", "--describe"}), 2);
  EXPECT_EQ(status_of({"runner", "--help"}), 0);
}

}  // namespace
}  // namespace tdconf
