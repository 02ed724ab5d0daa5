// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace tdconf::bench {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kMostRanks = 64;
constexpr double kLargestFraction = 100;

void add_injection(const std::string& argument, std::map<std::string, double>& inject) {
  const auto sign = argument.find('=');
  double fraction = 0;
  const bool is_read = sign != std::string::npos && sign > 0 &&
                       CLI::detail::lexical_cast(argument.substr(sign + 1), fraction) &&
                       fraction >= 0 && fraction <= kLargestFraction;
  if (!is_read) {
    throw CLI::ValidationError(
        "--inject", "expected OPERATION=FRACTION, with a fraction from 0 to 100, got " + argument);
  }
  inject[argument.substr(0, sign)] = fraction;
}

void check_rank(const CommandLine& line) {
  if (line.rank >= line.world) {
    throw CLI::ValidationError("--rank",
                               "rank " + std::to_string(line.rank) + " is not in a world of " +
                                   std::to_string(line.world) + "; ranks are 0 to world - 1");
  }
}

}  // namespace

CommandLine parse_command_line(int argc,
                               char** argv,
                               const std::string& description,
                               bool has_agreement) {
  CLI::App app(description);
  CommandLine line;
  std::vector<std::string> injections;
  app.add_option("--rank", line.rank, "rank of this process")
      ->required()
      ->check(CLI::Range(0, kMostRanks - 1));
  app.add_option("--world", line.world, "number of ranks")
      ->required()
      ->check(CLI::Range(2, kMostRanks));
  app.add_option("--store", line.store, "folder where the ranks find each other, new for each run")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--inject", injections, "OPERATION=FRACTION: make it slower by a busy wait");
  if (has_agreement) {
    app.add_flag(
        "!--no-agreement", line.agreement, "do not compare structures before anything is sent");
  }
  try {
    app.parse(argc, argv);
    check_rank(line);
    for (const auto& injection : injections) {
      add_injection(injection, line.inject);
    }
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    std::exit(kUsageStatus);
  }
  return line;
}

}  // namespace tdconf::bench
