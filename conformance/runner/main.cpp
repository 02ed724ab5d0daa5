// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "engine/case/fixtures.h"
#include "engine/session.h"
#include "runner/describe.h"
#include "runner/options.h"
#include "runner/run.h"
#include "values/text.h"

namespace tdconf {
namespace {

constexpr int kInvalidInput = 2;
constexpr int kInternalError = 70;

/// Hands GoogleTest its own flags and returns the other words.
std::vector<std::string> take_out_gtest_flags(int argc, char** argv) {
  std::vector<std::string> others;
  std::vector<char*> flags{argv[0]};
  for (int i = 0; i < argc; ++i) {
    const bool is_flag = std::string_view(argv[i]).starts_with("--gtest_");
    if (is_flag) {
      flags.push_back(argv[i]);
    } else {
      others.emplace_back(argv[i]);
    }
  }
  int count = static_cast<int>(flags.size());
  flags.push_back(nullptr);
  testing::InitGoogleTest(&count, flags.data());
  if (count > 1) throw InputError(concat("GoogleTest does not know ", flags[1]));
  return others;
}

std::string find_registry(const Options& options) {
  if (!options.clauses.empty()) return options.clauses;
  for (const std::string& path : options.fixtures) {
    const auto beside = std::filesystem::path(path) / "clauses.yaml";
    if (std::filesystem::exists(beside)) return beside.string();
  }
  return "";
}

Input read_input(Options options) {
  Input input;
  input.all = load_fixtures(options.fixtures);
  const std::string registry = find_registry(options);
  if (!registry.empty()) check_clauses(input.all, load_clauses(registry));
  if (options.expectations != "none") {
    input.expectations = load_expectations(options.expectations, input.all);
  }
  input.selected = select(input.all, options.selection);
  input.cases = deal(input.selected, options.job);
  input.options = std::move(options);
  return input;
}

/// Every player must have a command before anything is started.
void check_players(const Input& input) {
  const Options& options = input.options;
  if (options.implementation.empty()) throw InputError("--impl is needed to run cases");
  for (const auto& [rank, name] : options.assign) {
    const auto has_rank = [rank = rank](const Case& c) { return rank >= 0 && rank < c.world; };
    if (std::ranges::none_of(input.selected, has_rank)) {
      throw InputError(concat("--assign ", rank, "=", name, ": no selected case has rank ", rank));
    }
  }
  for (const Case& c : input.cases) {
    for (const Player& player : players_of(c, options.implementation, options.assign)) {
      if (options.adapters.contains(player.name)) continue;
      throw InputError(concat("rank ",
                              player.rank,
                              " of ",
                              c.name,
                              " is played by `",
                              player.name,
                              "`, which needs --adapter ",
                              player.name,
                              "=COMMAND"));
    }
  }
}

/// A closed stdin, stdout or stderr would give its number to the next file that is opened.
void open_standard_streams() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd > STDERR_FILENO) {
      close(fd);
      return;
    }
  }
}

int run_mode(const Input& input) {
  switch (input.options.mode) {
    case Options::Mode::kCheck:
      return 0;
    case Options::Mode::kList:
      for (const Case& c : input.cases) std::cout << c.name << '\n';
      return 0;
    case Options::Mode::kDescribe:
      for (const Case& c : input.cases) std::cout << describe(c).dump() << '\n';
      return 0;
    case Options::Mode::kRun:
      break;
  }
  check_players(input);
  return run(input);
}

}  // namespace
}  // namespace tdconf

int main(int argc, char** argv) {
  using namespace tdconf;
  open_standard_streams();
  try {
    return run_mode(read_input(parse_options(take_out_gtest_flags(argc, argv))));
  } catch (const CommandLineEnd& end) {
    return end.status;
  } catch (const InputError& error) {
    std::cerr << error.what() << '\n';
    return kInvalidInput;
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << error.what() << '\n';
    return kInvalidInput;
  } catch (const std::exception& error) {
    std::cerr << "internal error of the judge: " << error.what() << '\n';
    return kInternalError;
  }
}
