// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tdconf::adapter {

/// Makes this process able to report its stacks: installs a handler for SIGUSR2.
void enable_stacks();

/// Returns the native backtrace of each thread of this process, demangled.
///
/// Blocks  up to half a second for each thread that does not run its signal handler.
/// Errors  none: a thread that does not answer is named as such.
std::string describe_stacks();

}  // namespace tdconf::adapter
