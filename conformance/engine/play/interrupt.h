// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <exception>

namespace tdconf {

/// A person or a supervisor asked this process to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Blocks SIGINT, SIGTERM and SIGHUP except while interruptible_mask() is in force, and notes them. A
/// SIGHUP that this process was started to ignore stays ignored.
void catch_interrupts();

bool is_interrupted();

/// The signal mask to wait with.
const sigset_t& interruptible_mask();

}  // namespace tdconf
