// SPDX-License-Identifier: BSD-3-Clause
#include "runner/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>

#include "runner/command_line.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// The options that are more than one word of text.
struct RawOptions {
  std::vector<std::string> adapters;
  std::vector<std::string> assign;
  std::string shard;
  std::string job;
  std::string environment;
  bool list = false;
  bool describe = false;
  bool check = false;
};

/// Checks a number that times are multiplied by or made of; beyond it they would overflow.
std::string is_usable_factor(const std::string& text) {
  constexpr double kMax = 1e6;
  double factor = 0;
  const bool is_number = CLI::detail::lexical_cast(text, factor);
  if (is_number && factor > 0 && factor <= kMax) return "";
  return concat("got ", text, ", allowed: a number above 0, at most ", kMax);
}

std::pair<std::string, std::string> split_at_equals(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError(concat(option, ": got `", text, "`, allowed: NAME=VALUE"));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::map<std::string, AdapterCommand> parse_adapters(const std::vector<std::string>& given) {
  constexpr std::string_view kFork = "fork:";
  std::map<std::string, AdapterCommand> adapters;
  for (const std::string& text : given) {
    auto [name, command] = split_at_equals(text, "--adapter");
    const bool is_fork_server = command.starts_with(kFork);
    if (is_fork_server) command.erase(0, kFork.size());
    if (!adapters.emplace(name, AdapterCommand{split_command(command), is_fork_server}).second) {
      throw InputError(concat("--adapter: got `", name, "` twice, allowed: each name once"));
    }
  }
  return adapters;
}

std::map<int, std::string> parse_assign(const std::vector<std::string>& given) {
  std::map<int, std::string> assign;
  for (const std::string& text : given) {
    const auto [rank_text, name] = split_at_equals(text, "--assign");
    int rank = -1;
    const char* end = rank_text.data() + rank_text.size();
    const auto [stop, status] = std::from_chars(rank_text.data(), end, rank);
    if (status != std::errc() || stop != end || rank < 0 || !assign.emplace(rank, name).second) {
      throw InputError(concat("--assign: got `", text, "`, allowed: RANK=ADAPTER, each rank once"));
    }
  }
  return assign;
}

nlohmann::json read_environment(const std::string& path) {
  if (path.empty()) return nlohmann::json::object();
  std::ifstream file(path);
  const nlohmann::json environment = nlohmann::json::parse(file, nullptr, false);
  if (!environment.is_object())
    throw InputError(concat("--environment: ", path, " holds no JSON object"));
  return environment;
}

void declare(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--fixtures", options.fixtures, "a file or folder of cases; may be repeated")
      ->required();
  app.add_option(
      "--clauses", options.clauses, "the clause registry that cases are checked against");
  app.add_option(
      "--impl", options.implementation, "the adapter that plays every rank without a role");
  app.add_option("--adapter",
                 raw.adapters,
                 "NAME=COMMAND, or NAME=fork:COMMAND for a fork server; may be repeated");
  app.add_option(
      "--expectations", options.expectations, "known deviations of the implementation, or `none`");
  app.add_option("--out", options.out, "folder for results.jsonl and logs");
  app.add_option(
      "--run", options.selection.run, "only cases that match PATTERN or a line of @FILE");
  app.add_option(
      "--skip", options.selection.skip, "no cases that match PATTERN or a line of @FILE");
  app.add_option("--clause", options.selection.clauses, "only cases for a clause");
  app.add_option("--level", options.selection.levels, "only cases of a level");
  app.add_option("--axis", options.selection.axes, "only cases with NAME=VALUE");
  app.add_option(
         "--assign", raw.assign, "which adapter plays which rank, e.g. 0=reference,1=tensordict")
      ->delimiter(',');
  app.add_option("--timeout-scale", options.timeout_scale, "multiplies every deadline")
      ->check(is_usable_factor);
  app.add_option("--start-limit", options.start_limit_s, "seconds for an adapter to be ready (60)")
      ->check(is_usable_factor);
  app.add_option(
      "--shard", raw.shard, "I/N: the cases whose name falls into shard I (from 0) of N");
  app.add_option("--job", raw.job, "I/N: every N-th selected case from I (from 0)");
  app.add_option("--environment", raw.environment, "a JSON object that is copied into the header");
  app.add_option("--repeat-command",
                 options.repeat_command,
                 "what stands before `--run CASE` in the command that repeats a case");
  app.add_flag(
      "--fail-fast", options.fail_fast, "stop after the first case that is not as expected");
  app.add_flag("--trace",
               options.trace,
               "write every answer, transcript and place in the order into results.jsonl, and the "
               "stacks of every hang");
  auto* list = app.add_flag("--list", raw.list, "print the selected cases and do nothing else");
  auto* describe = app.add_flag("--describe",
                                raw.describe,
                                "print the selected cases as JSON, one a line, and do nothing else")
                       ->excludes(list);
  app.add_flag("--check", raw.check, "read everything and do nothing else")
      ->excludes(list)
      ->excludes(describe);
  app.footer(
      "GoogleTest's own flags (--gtest_filter, --gtest_output, ...) are understood too.\n"
      "Exit status: 0 as expected, 1 unexpected failure, crash or hang, 2 invalid input, 3 "
      "expectations\n"
      "out of date, 4 no full verdict, 70 internal error, 130 interrupted.\n"
      "Example: tdconf_runner --fixtures fixtures --impl reference \\\n"
      "           --adapter reference=build/release/conformance/adapters/tdconf_adapter_reference "
      "--run 'p2p/**'");
}

/// Patterns and commands may begin with a dash or hold commas; each option takes one word.
void take_one_word_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 1 && option->get_name() != "--assign") {
      option->expected(1)->take_all()->allow_extra_args(false);
    }
  }
}

/// The command line without what chooses cases.
std::string default_repeat_command(const Options& options, const RawOptions& raw) {
  std::vector<std::string> words{options.argv.front()};
  const auto add = [&](const std::string& option, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.insert(words.end(), {option, value});
  };
  add("--fixtures", options.fixtures);
  add("--impl", {options.implementation});
  add("--adapter", raw.adapters);
  if (!raw.assign.empty()) add("--assign", {join(raw.assign, ",")});
  return quote_command(words);
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  options.argv = arguments;
  RawOptions raw;
  CLI::App app("Judges an implementation of TensorDict's distributed API.", "tdconf_runner");
  declare(app, options, raw);
  take_one_word_each(app);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    constexpr int kUsageError = 2;
    // NOLINTNEXTLINE(bugprone-std-exception-baseclass): to have said all is no error.
    throw CommandLineEnd{app.exit(error) == 0 ? 0 : kUsageError};
  }
  if (raw.list) options.mode = Options::Mode::kList;
  if (raw.describe) options.mode = Options::Mode::kDescribe;
  if (raw.check) options.mode = Options::Mode::kCheck;
  options.adapters = parse_adapters(raw.adapters);
  options.assign = parse_assign(raw.assign);
  options.environment = read_environment(raw.environment);
  if (!raw.shard.empty()) options.selection.shard = parse_part(raw.shard, "--shard");
  if (!raw.job.empty()) options.job = parse_part(raw.job, "--job");
  if (options.repeat_command.empty()) options.repeat_command = default_repeat_command(options, raw);
  return options;
}

}  // namespace tdconf
