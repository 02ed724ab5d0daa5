// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/command_line.h"
#include "common/operation.h"

namespace tdconf::bench {

struct Program {
  std::string column;
  bool has_agreement = false;
  /// Connects the ranks of this column.
  std::function<std::unique_ptr<Column>(const CommandLine& line)> open;
};

/// Is one rank of one column: answers the requests on standard input until it ends; see
/// bench/README.md. Does not return: 0 at the end of the requests, 1 after an error, which is also
/// the last line of standard output, and 2 for a wrong command line.
[[noreturn]] void serve(const Program& program, int argc, char** argv);

}  // namespace tdconf::bench
