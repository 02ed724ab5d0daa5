// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/player.h"

namespace tdconf::adapter {

/// Runs an adapter: dials the judge that the command line names and answers until it says `bye` or
/// hangs up.
///
/// Order   the calling thread carries out the operations, one after another; a second thread reads
///         the connection, answers `ping` and `stacks` at once, and queues the rest.
/// Errors  exit status 2 with one message on stderr: a bad command line, or no judge there;
///         69 when the judge breaks the protocol, since there is no request left to answer.
[[noreturn]] void run_adapter(const Player& player, int argc, char** argv);

}  // namespace tdconf::adapter
