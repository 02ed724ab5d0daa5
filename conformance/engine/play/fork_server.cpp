// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/fork_server.h"

#include <algorithm>

#include "values/text.h"

namespace tdconf {
namespace {

ExitStatus exit_of(const Exited& exited) {
  ExitStatus exit;
  if (exited.status) exit.status = static_cast<int>(*exited.status);
  if (exited.signal) exit.signal = static_cast<int>(*exited.signal);
  return exit;
}

}  // namespace

ForkServer::ForkServer(std::unique_ptr<Process> process, std::string token, std::string log_path)
    : process_(std::move(process)), token_(std::move(token)), log_path_(std::move(log_path)) {}

std::optional<std::string> ForkServer::failure() {
  if (failure_) return failure_;
  if (peer_ != nullptr && peer_->violation())
    return concat("broke the protocol: ", *peer_->violation());
  if (process_->reap()) return describe(*process_->reap());
  if (peer_ != nullptr && peer_->is_closed()) return "closed its connection";
  return std::nullopt;
}

void ForkServer::greet(std::unique_ptr<Peer> peer, const Hello& hello) {
  peer_ = std::move(peer);
  if (!claims(hello, "fork")) failure_ = "broke the protocol: it serves without claiming `fork`";
  request_spawns();
}

void ForkServer::spawn(Adapter& adapter) {
  waiting_.push_back(&adapter);
  request_spawns();
}

void ForkServer::request_spawns() {
  if (peer_ == nullptr) return;
  for (Adapter* adapter : waiting_) {
    const std::int64_t seq =
        peer_->send("spawn", {{"rank", adapter->player().rank}, {"token", adapter->token()}});
    requested_[seq] = adapter;
  }
  waiting_.clear();
}

void ForkServer::process_messages(const std::vector<Adapter*>& adapters) {
  if (peer_ == nullptr) return;
  while (const std::optional<Reply> reply = peer_->take_reply()) {
    const auto requested = requested_.find(reply->seq);
    if (requested == requested_.end()) continue;
    if (const auto* spawned = std::get_if<Spawned>(&reply->answer)) {
      requested->second->was_spawned_as(spawned->pid);
    } else {
      requested->second->fails(concat("was not spawned: ", describe(reply->answer)));
    }
    requested_.erase(requested);
  }
  while (const std::optional<Exited> exited = peer_->take_exited()) {
    const auto adapter = std::ranges::find_if(
        adapters, [&](const Adapter* candidate) { return candidate->pid() == exited->pid; });
    if (adapter != adapters.end()) (*adapter)->has_exited(exit_of(*exited));
  }
}

void ForkServer::forget(const Adapter& adapter) {
  std::erase(waiting_, &adapter);
  std::erase_if(requested_, [&](const auto& request) { return request.second == &adapter; });
}

}  // namespace tdconf
