// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace tdconf::adapter {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
      unsetenv(variable);
    }
    setenv("TDCONF_TOKEN", "secret", 1);
  }

  static CommandLine parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "adapter");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return parse_command_line(static_cast<int>(arguments.size()), argv.data(), "an adapter");
  }
};

TEST_F(CommandLineTest, SplitsTheAddressAtItsLastColon) {
  const CommandLine line = parse({"--connect", "judge.example:80", "--rank", "2"});
  EXPECT_EQ(line.host, "judge.example");
  EXPECT_EQ(line.port, "80");
  EXPECT_EQ(line.rank, 2);
  EXPECT_EQ(line.token, "secret");
  EXPECT_EQ(parse({"--connect", "[::1]:80", "--rank", "0"}).host, "::1");
}

TEST_F(CommandLineTest, TakesTheRankFromTheFirstVariableThatIsSet) {
  setenv("SLURM_PROCID", "4", 1);
  EXPECT_EQ(parse({"--connect", "h:1"}).rank, 4);
  setenv("PMI_RANK", "3", 1);
  EXPECT_EQ(parse({"--connect", "h:1"}).rank, 3);
  setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  EXPECT_EQ(parse({"--connect", "h:1"}).rank, 2);
  setenv("RANK", "1", 1);
  EXPECT_EQ(parse({"--connect", "h:1"}).rank, 1);
  EXPECT_EQ(parse({"--connect", "h:1", "--rank", "0"}).rank, 0);
}

using CommandLineDeathTest = CommandLineTest;

TEST_F(CommandLineDeathTest, ExitsWithStatus2AndOneMessage) {
  const auto usage = testing::ExitedWithCode(2);
  EXPECT_EXIT(parse({"--rank", "0"}), usage, "^adapter: --connect is required\n$");
  EXPECT_EXIT(
      parse({"--connect", "h:1"}), usage, "^adapter: --rank, or one of RANK, .*required\n$");
  EXPECT_EXIT(parse({"--connect", "h", "--rank", "0"}), usage, "expected HOST:PORT, got h\n$");
  EXPECT_EXIT(parse({"--connect", "h:1", "--rank", "-1"}), usage, "^adapter: .*--rank.*\n$");
  EXPECT_EXIT(parse({"--connect", "h:1", "--rank", "0", "--serve"}), usage, "--serve");
  setenv("RANK", "first", 1);
  EXPECT_EXIT(parse({"--connect", "h:1"}),
              usage,
              "^adapter: --rank: Value first not in range 0 to 2147483647\n$");
}

TEST_F(CommandLineDeathTest, NeedsTheToken) {
  unsetenv("TDCONF_TOKEN");
  EXPECT_EXIT(parse({"--connect", "h:1", "--rank", "0"}),
              testing::ExitedWithCode(2),
              "^adapter: the environment variable TDCONF_TOKEN is required\n$");
}

}  // namespace
}  // namespace tdconf::adapter
