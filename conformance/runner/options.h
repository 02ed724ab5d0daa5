// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/case/selection.h"
#include "engine/play/fleet.h"

namespace tdconf {

/// What the command line asks for.
struct Options {
  enum class Mode { kRun, kList, kDescribe, kCheck };

  Mode mode = Mode::kRun;
  std::vector<std::string> fixtures;
  std::string clauses;
  std::string implementation;
  std::map<std::string, AdapterCommand> adapters;
  std::string expectations = "none";
  std::string out = "tdconf-out";
  Selection selection;
  std::map<int, std::string> assign;
  double timeout_scale = 1;
  /// How long an adapter may take to connect and say hello; not scaled, since no case waits for it.
  double start_limit_s = 60;
  Part job;
  bool fail_fast = false;
  nlohmann::json environment;
  std::string repeat_command;
  /// The command line as it was given.
  std::vector<std::string> argv;
};

/// The command line asks for help or is wrong; `status` is the exit status.
struct CommandLineEnd {
  int status = 0;
};

/// Reads the command line without what GoogleTest takes, which begins with `--gtest_`.
///
/// Errors  CommandLineEnd after having printed; InputError.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace tdconf
