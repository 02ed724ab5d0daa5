// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace tdconf::bench {

struct CommandLine {
  int rank = 0;
  int world = 0;
  /// The folder where the ranks find each other.
  std::string store;
  /// By operation, the fraction of its time by which it is made slower.
  std::map<std::string, double> inject;
  /// Whether the ranks compare structures before they send; see tdref::GroupOptions.
  bool agreement = true;
};

/// Reads `--rank R --world W --store FOLDER [--inject OPERATION=FRACTION]...` and, where
/// `has_agreement`, `--no-agreement`.
///
/// Errors  writes one message to stderr and exits with status 2; `--help` exits with 0.
CommandLine parse_command_line(int argc,
                               char** argv,
                               const std::string& description,
                               bool has_agreement);

}  // namespace tdconf::bench
