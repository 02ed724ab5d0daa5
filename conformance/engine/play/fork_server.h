// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/play/adapter.h"

namespace tdconf {

/// An adapter that has started once and forks a process for each rank.
class ForkServer {
 public:
  ForkServer(std::unique_ptr<Process> process, std::string token, std::string log_path);

  const std::string& token() const { return token_; }
  const std::string& log_path() const { return log_path_; }
  Process& process() { return *process_; }
  Peer* peer() { return peer_.get(); }
  std::optional<std::string> failure();

  void greet(std::unique_ptr<Peer> peer, const Hello& hello);

  /// Asks for a process to play the adapter's rank, now or once the server is up.
  void spawn(Adapter& adapter);

  /// Passes on what the server has said about its children.
  void process_messages(const std::vector<Adapter*>& adapters);

  /// Forgets an adapter that is no longer of interest.
  void forget(const Adapter& adapter);

 private:
  void request_spawns();

  std::unique_ptr<Process> process_;
  std::string token_;
  std::string log_path_;
  std::unique_ptr<Peer> peer_;
  std::vector<Adapter*> waiting_;
  std::map<std::int64_t, Adapter*> requested_;
  std::optional<std::string> failure_;
};

}  // namespace tdconf
