// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/play/adapter.h"
#include "engine/play/fork_server.h"
#include "engine/play/poll.h"

namespace tdconf {

/// An adapter could not be started, or broke the protocol before the case began.
class StartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AdapterCommand {
  std::vector<std::string> argv;
  bool is_fork_server = false;
};

struct FleetOptions {
  std::map<std::string, AdapterCommand> commands;
  std::string log_folder;
  std::chrono::milliseconds start_limit{60'000};
};

/// The running adapters, one for each name and rank, and the loop that listens to all of them.
class Fleet {
 public:
  explicit Fleet(FleetOptions options);
  /// Kills whatever still runs.
  ~Fleet();

  /// Returns a ready adapter for each player, starting those that do not run, all at once.
  ///
  /// Errors  StartError, after which the adapters that failed are gone.
  std::vector<Adapter*> muster(const std::vector<Player>& players);

  /// Waits until something happens or `until` has come, then takes in what has arrived.
  ///
  /// Errors  Interrupted.
  void poll(Clock::time_point until);

  /// Kills the adapters and waits, for at most a second, until it is known how they ended.
  void kill(const std::vector<Adapter*>& adapters);

  /// Forgets adapters that were killed.
  void discard(const std::vector<Adapter*>& adapters);

  /// Says `bye` to every adapter; returns a sentence for each that did not end with status 0.
  std::vector<std::string> dismiss();

  /// Says why the fork server of an adapter can no longer tell how its children end.
  std::optional<std::string> failure_of_server(const Adapter& adapter);

  /// One sentence for each adapter that ended although no case asked it to do anything.
  const std::vector<std::string>& idle_deaths() const { return idle_deaths_; }

  /// What the adapters of each name said in `hello`.
  const std::map<std::string, Hello>& hellos() const { return hellos_; }

 private:
  std::unique_ptr<Process> start_process(const std::string& name,
                                         const std::vector<std::string>& extra_arguments,
                                         const std::string& token,
                                         const std::string& log_path);
  void start(const Player& player);
  ForkServer& server_of(const std::string& name);
  void accept_connections();
  void greet_strangers();
  bool hand_over(std::unique_ptr<Peer>& stranger, const Hello& hello);
  void drop_failed_servers();
  void drop_if_dead(const Player& player);
  void throw_if_failed(const std::vector<Player>& players);
  [[noreturn]] void fail(Adapter& adapter, const std::string& reason);
  std::string next_log_path(const std::string& stem);
  std::vector<Adapter*> all_adapters();

  FleetOptions options_;
  Listener listener_;
  std::map<std::string, std::unique_ptr<ForkServer>> servers_;
  std::map<Player, std::unique_ptr<Adapter>> adapters_;
  std::vector<std::unique_ptr<Peer>> strangers_;
  std::map<std::string, Hello> hellos_;
  std::vector<std::string> idle_deaths_;
  int next_log_ = 0;
};

}  // namespace tdconf
