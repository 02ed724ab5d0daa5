// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/fleet.h"

#include <algorithm>
#include <random>
#include <system_error>

#include "values/hex.h"
#include "values/text.h"

namespace tdconf {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kKillLimit{1'000};
constexpr milliseconds kByeLimit{5'000};

/// Tells adapters apart; it also keeps other local processes from posing as one.
std::string random_token() {
  std::random_device source;
  Bytes bytes(16);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(source());
  return encode_hex(bytes);
}

void watch(std::vector<pollfd>& watched, Peer* peer) {
  if (peer == nullptr || peer->is_closed() || peer->violation()) return;
  const int events = POLLIN | (peer->channel().has_unsent() ? POLLOUT : 0);
  watched.push_back({peer->channel().fd(), static_cast<short>(events), 0});
}

/// Also the end of a process that nobody has taken notice of yet, which ends the wait at once.
void watch(std::vector<pollfd>& watched, Process& process) {
  if (!process.exit()) watched.push_back({process.pidfd(), POLLIN, 0});
}

void exchange(Peer* peer) {
  if (peer == nullptr || peer->is_closed()) return;
  peer->channel().flush();
  peer->receive();
}

}  // namespace

Fleet::Fleet(FleetOptions options) : options_(std::move(options)) {}

Fleet::~Fleet() {
  adapters_.clear();
  servers_.clear();
}

std::string Fleet::next_log_path(const std::string& stem) {
  return concat(options_.log_folder, "/", stem, "-", next_log_++, ".log");
}

std::unique_ptr<Process> Fleet::start_process(const std::string& name,
                                              const std::vector<std::string>& extra_arguments,
                                              const std::string& token,
                                              const std::string& log_path) {
  const auto command = options_.commands.find(name);
  if (command == options_.commands.end())
    throw StartError(concat("no adapter is called `", name, "`"));
  SpawnOptions spawn{command->second.argv, {{"TDCONF_TOKEN", token}}, log_path};
  spawn.argv.insert(spawn.argv.end(), {"--connect", listener_.address()});
  spawn.argv.insert(spawn.argv.end(), extra_arguments.begin(), extra_arguments.end());
  try {
    return std::make_unique<Process>(spawn);
  } catch (const std::system_error& error) {
    throw StartError(concat("adapter `", name, "` cannot be started: ", error.what()));
  }
}

ForkServer& Fleet::server_of(const std::string& name) {
  std::unique_ptr<ForkServer>& server = servers_[name];
  if (server == nullptr) {
    const std::string token = random_token();
    const std::string log_path = next_log_path(concat(name, "-server"));
    server = std::make_unique<ForkServer>(
        start_process(name, {"--serve"}, token, log_path), token, log_path);
  }
  return *server;
}

void Fleet::start(const Player& player) {
  const auto command = options_.commands.find(player.name);
  const bool is_forked = command != options_.commands.end() && command->second.is_fork_server;
  if (is_forked) {
    ForkServer& server = server_of(player.name);
    auto adapter = std::make_unique<Adapter>(player, random_token(), server.log_path());
    server.spawn(*adapter);
    adapters_[player] = std::move(adapter);
    return;
  }
  auto adapter = std::make_unique<Adapter>(
      player, random_token(), next_log_path(concat(player.name, "-rank", player.rank)));
  adapter->owns(start_process(
      player.name, {"--rank", std::to_string(player.rank)}, adapter->token(), adapter->log_path()));
  adapters_[player] = std::move(adapter);
}

std::vector<Adapter*> Fleet::muster(const std::vector<Player>& players) {
  drop_failed_servers();
  for (const Player& player : players) {
    drop_if_dead(player);
    if (!adapters_.contains(player)) start(player);
  }
  const Clock::time_point limit = Clock::now() + options_.start_limit;
  const auto is_ready = [&](const Player& player) { return adapters_.at(player)->is_ready(); };
  while (!std::ranges::all_of(players, is_ready)) {
    throw_if_failed(players);
    if (Clock::now() >= limit) {
      const auto late = std::ranges::find_if_not(players, is_ready);
      fail(*adapters_.at(*late),
           concat("was not ready within ", options_.start_limit.count(), " ms"));
    }
    poll(limit);
  }
  std::vector<Adapter*> mustered;
  for (const Player& player : players) mustered.push_back(adapters_.at(player).get());
  return mustered;
}

void Fleet::drop_if_dead(const Player& player) {
  const auto found = adapters_.find(player);
  if (found == adapters_.end()) return;
  const auto failure = found->second->failure();
  if (!failure) return;
  // One that never was ready has failed its own case already.
  if (found->second->is_ready())
    idle_deaths_.push_back(
        concat("adapter `", player.name, "` rank ", player.rank, " between cases: ", *failure));
  discard({found->second.get()});
}

void Fleet::throw_if_failed(const std::vector<Player>& players) {
  for (const Player& player : players) {
    Adapter& adapter = *adapters_.at(player);
    if (const auto failure = adapter.failure()) fail(adapter, *failure);
    const auto server = servers_.find(player.name);
    if (adapter.is_ready() || server == servers_.end()) continue;
    if (const auto failure = server->second->failure())
      fail(adapter, concat("has a fork server that ", *failure));
  }
}

void Fleet::fail(Adapter& adapter, const std::string& reason) {
  const std::string message =
      concat("adapter `", adapter.player().name, "` rank ", adapter.player().rank, ": ", reason);
  const std::string tail = tail_of(adapter.log_path());
  const std::string name = adapter.player().name;
  const bool has_silent_server = servers_.contains(name) && !adapter.pid();
  kill({&adapter});
  discard({&adapter});
  if (has_silent_server) servers_.erase(name);
  throw StartError(tail.empty() ? message : concat(message, "\n", tail));
}

std::optional<std::string> Fleet::failure_of_server(const Adapter& adapter) {
  const auto server = servers_.find(adapter.player().name);
  return server == servers_.end() ? std::nullopt : server->second->failure();
}

/// The children of a server that is gone die with it.
void Fleet::drop_failed_servers() {
  std::vector<Adapter*> orphans;
  for (auto& [name, server] : servers_) {
    if (!server->failure()) continue;
    for (Adapter* adapter : all_adapters()) {
      if (adapter->player().name == name) orphans.push_back(adapter);
    }
  }
  discard(orphans);
  std::erase_if(servers_, [](auto& entry) { return entry.second->failure().has_value(); });
}

std::vector<Adapter*> Fleet::all_adapters() {
  std::vector<Adapter*> all;
  for (auto& [player, adapter] : adapters_) all.push_back(adapter.get());
  return all;
}

void Fleet::poll(Clock::time_point until) {
  std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
  for (auto& [name, server] : servers_) {
    watch(watched, server->peer());
    watch(watched, server->process());
  }
  for (auto& [player, adapter] : adapters_) {
    watch(watched, adapter->peer());
    if (adapter->process() != nullptr) watch(watched, *adapter->process());
  }
  for (const auto& stranger : strangers_) watch(watched, stranger.get());

  poll_until(watched, until);
  accept_connections();
  greet_strangers();
  const std::vector<Adapter*> adapters = all_adapters();
  for (auto& [name, server] : servers_) {
    server->process().reap();
    exchange(server->peer());
    server->process_messages(adapters);
  }
  for (Adapter* adapter : adapters) {
    adapter->exit();
    exchange(adapter->peer());
    adapter->finish_greeting();
  }
}

void Fleet::accept_connections() {
  while (std::optional<FileDescriptor> socket = listener_.accept()) {
    auto stranger = std::make_unique<Peer>(std::move(*socket));
    stranger->send("hello", {{"protocol", kProtocolVersion}});
    strangers_.push_back(std::move(stranger));
  }
}

void Fleet::greet_strangers() {
  for (std::unique_ptr<Peer>& stranger : strangers_) {
    exchange(stranger.get());
    const std::optional<Reply> reply = stranger->take_reply();
    const Hello* hello = reply ? std::get_if<Hello>(&reply->answer) : nullptr;
    const bool is_lost = (reply && (hello == nullptr || !hand_over(stranger, *hello))) ||
                         (stranger != nullptr && (stranger->is_closed() || stranger->violation()));
    if (is_lost) stranger.reset();
  }
  std::erase(strangers_, nullptr);
}

bool Fleet::hand_over(std::unique_ptr<Peer>& stranger, const Hello& hello) {
  for (auto& [name, server] : servers_) {
    if (server->token() != hello.token || server->peer() != nullptr) continue;
    server->greet(std::move(stranger), hello);
    return true;
  }
  for (auto& [player, adapter] : adapters_) {
    if (adapter->token() != hello.token || adapter->peer() != nullptr) continue;
    hellos_[player.name] = hello;
    adapter->greet(std::move(stranger), hello);
    return true;
  }
  return false;
}

void Fleet::kill(const std::vector<Adapter*>& adapters) {
  for (Adapter* adapter : adapters) adapter->kill();
  const Clock::time_point limit = Clock::now() + kKillLimit;
  const auto has_ended = [](Adapter* adapter) {
    return !adapter->pid() || adapter->exit().has_value();
  };
  while (!std::ranges::all_of(adapters, has_ended) && Clock::now() < limit) poll(limit);
}

void Fleet::discard(const std::vector<Adapter*>& adapters) {
  for (const Adapter* adapter : adapters) {
    const Player player = adapter->player();
    if (const auto server = servers_.find(player.name); server != servers_.end()) {
      server->second->forget(*adapter);
    }
    adapters_.erase(player);
  }
}

std::vector<std::string> Fleet::dismiss() {
  std::vector<Adapter*> leaving;
  for (Adapter* adapter : all_adapters()) {
    if (!adapter->is_ready() || adapter->failure()) continue;
    adapter->peer()->send("bye");
    leaving.push_back(adapter);
  }
  const Clock::time_point limit = Clock::now() + kByeLimit;
  const auto has_ended = [](Adapter* adapter) { return adapter->exit().has_value(); };
  while (!std::ranges::all_of(leaving, has_ended) && Clock::now() < limit) poll(limit);
  std::vector<std::string> complaints;
  for (Adapter* adapter : leaving) {
    if (adapter->exit() == ExitStatus{0, std::nullopt}) continue;
    const std::string ended = adapter->exit() ? describe(*adapter->exit()) : "did not end";
    complaints.push_back(concat("adapter `",
                                adapter->player().name,
                                "` rank ",
                                adapter->player().rank,
                                " ",
                                ended,
                                " after bye"));
  }
  return complaints;
}

}  // namespace tdconf
