// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/play/file_descriptor.h"

namespace tdconf {

/// How a process ended: with a status, or by a signal.
struct ExitStatus {
  std::optional<int> status;
  std::optional<int> signal;
  bool operator==(const ExitStatus&) const = default;
};

/// Writes `exited with status 3` or `killed by SIGKILL`.
std::string describe(const ExitStatus& exit);

struct SpawnOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  /// Takes stdout and stderr together.
  std::string log_path;
};

/// A child process in a process group of its own, which dies with this process.
class Process {
 public:
  /// Errors  std::system_error: no such program, or the log cannot be written.
  explicit Process(const SpawnOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the group and waits for the child.
  ~Process();

  pid_t pid() const { return pid_; }
  /// Becomes readable when the child ends.
  int pidfd() const { return pidfd_.get(); }

  /// Takes the exit status when the child has ended; never waits.
  const std::optional<ExitStatus>& reap();

  /// What `reap` has taken so far.
  const std::optional<ExitStatus>& exit() const { return exit_; }

  /// Sends SIGKILL to every process of the group.
  void kill_group() const;

 private:
  pid_t pid_ = -1;
  FileDescriptor pidfd_;
  std::optional<ExitStatus> exit_;
};

/// Returns the last lines of a log file, at most `max_bytes` of them.
std::string tail_of(const std::string& path, std::size_t max_bytes = 4000);

}  // namespace tdconf
