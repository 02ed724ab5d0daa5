// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/play/peer.h"
#include "engine/play/process.h"

namespace tdconf {

/// Who plays a rank.
struct Player {
  std::string name;
  int rank = 0;
  auto operator<=>(const Player&) const = default;
};

/// One adapter process that plays one rank, from its start to its end.
///
/// It is ready once it has said hello with its token and has refused an operation that cannot exist.
class Adapter {
 public:
  Adapter(Player player, std::string token, std::string log_path);
  /// Kills a process that a fork server started; one of its own dies with its Process.
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  const Player& player() const { return player_; }
  const std::string& token() const { return token_; }
  const std::string& log_path() const { return log_path_; }
  const std::optional<Hello>& hello() const { return hello_; }
  std::optional<std::int64_t> pid() const { return pid_; }
  Process* process() { return process_.get(); }
  Peer* peer() { return peer_.get(); }

  bool is_ready() const { return is_ready_; }
  /// Why it will never be ready, or why it can no longer be used.
  std::optional<std::string> failure();
  /// How the process ended, when that is known.
  const std::optional<ExitStatus>& exit();

  void owns(std::unique_ptr<Process> process);
  void was_spawned_as(std::int64_t pid) { pid_ = pid; }
  void has_exited(const ExitStatus& exit) { exit_ = exit; }
  void fails(std::string reason) { failure_ = std::move(reason); }

  /// Takes over the connection of a process that has said hello with this adapter's token, and
  /// sends the operation that cannot exist.
  void greet(std::unique_ptr<Peer> peer, Hello hello);

  /// Judges the answer to that operation, once it is there.
  void finish_greeting();

  void kill();

 private:
  Player player_;
  std::string token_;
  std::string log_path_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Peer> peer_;
  std::optional<Hello> hello_;
  std::optional<std::int64_t> pid_;
  std::optional<ExitStatus> exit_;
  std::optional<std::string> failure_;
  bool is_ready_ = false;
};

/// True when `hello` claims the capability.
bool claims(const Hello& hello, const std::string& capability);

}  // namespace tdconf
