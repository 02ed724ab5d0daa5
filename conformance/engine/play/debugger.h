// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/play/adapter.h"
#include "engine/play/record.h"

namespace tdconf {

struct DebuggerOptions {
  /// For what the debuggers print, until it has been read.
  std::string folder;
  std::chrono::milliseconds limit{5'000};
};

/// Has a debugger look at the ranks that still run, all at once, and adds what it prints to the
/// stacks in the record: py-spy at a Python process, gdb at any other that said nothing itself.
/// py-spy is looked for beside the interpreter and on PATH, gdb on PATH. A debugger that is missing
/// is passed over, one that fails or takes too long leaves one line.
///
/// Blocks  for at most the limit.
/// Errors  Interrupted.
void add_debugger_stacks(const std::vector<Adapter*>& adapters,
                         const DebuggerOptions& options,
                         Record& record);

}  // namespace tdconf
