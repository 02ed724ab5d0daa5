// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <iostream>
#include <limits>

namespace tdconf::adapter {
namespace {

constexpr int kUsageStatus = 2;
constexpr std::int64_t kLargestRank = std::numeric_limits<std::int32_t>::max();
constexpr std::array kRankVariables{"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

void fill_rank_from_environment(CLI::Option& option) {
  if (option.count() > 0) return;
  for (const char* variable : kRankVariables) {
    if (const char* value = std::getenv(variable)) {
      option.add_result(value);
      option.run_callback();
      return;
    }
  }
  throw CLI::RequiredError("--rank, or one of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID,");
}

void split_address(const std::string& address, CommandLine& line) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    throw CLI::ValidationError("--connect", "expected HOST:PORT, got " + address);
  }
  line.host = address.substr(0, colon);
  line.port = address.substr(colon + 1);
  if (line.host.front() == '[' && line.host.back() == ']') {
    line.host = line.host.substr(1, line.host.size() - 2);
  }
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv, const std::string& description) {
  CLI::App app(description);
  CommandLine line;
  std::string address;
  app.add_option("--connect", address, "address where the judge listens, HOST:PORT")->required();
  CLI::Option* rank = app.add_option("--rank", line.rank, "rank that this process plays")
                          ->check(CLI::Range(std::int64_t{0}, kLargestRank));
  try {
    app.parse(argc, argv);
    fill_rank_from_environment(*rank);
    split_address(address, line);
    const char* token = std::getenv("TDCONF_TOKEN");
    if (token == nullptr) throw CLI::RequiredError("the environment variable TDCONF_TOKEN");
    line.token = token;
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    std::exit(kUsageStatus);
  }
  return line;
}

}  // namespace tdconf::adapter
