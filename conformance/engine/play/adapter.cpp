// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/adapter.h"

#include <csignal>

#include "values/text.h"

namespace tdconf {
namespace {

constexpr const char* kImpossibleOperation = "no_such_operation";

}  // namespace

Adapter::Adapter(Player player, std::string token, std::string log_path)
    : player_(std::move(player)), token_(std::move(token)), log_path_(std::move(log_path)) {}

Adapter::~Adapter() {
  kill();
}

void Adapter::owns(std::unique_ptr<Process> process) {
  pid_ = process->pid();
  process_ = std::move(process);
}

const std::optional<ExitStatus>& Adapter::exit() {
  if (process_ != nullptr && !exit_) exit_ = process_->reap();
  return exit_;
}

std::optional<std::string> Adapter::failure() {
  if (failure_) return failure_;
  if (peer_ != nullptr && peer_->violation())
    return concat("broke the protocol: ", *peer_->violation());
  if (exit()) return describe(*exit_);
  if (peer_ != nullptr && peer_->is_closed()) return "closed its connection";
  return std::nullopt;
}

void Adapter::greet(std::unique_ptr<Peer> peer, Hello hello) {
  peer_ = std::move(peer);
  hello_ = std::move(hello);
  if (!pid_) pid_ = hello_->pid;
  peer_->send("step", {{"op", kImpossibleOperation}, {"args", nlohmann::json::object()}});
}

void Adapter::finish_greeting() {
  if (peer_ == nullptr || is_ready_) return;
  const std::optional<Reply> reply = peer_->take_reply();
  if (!reply) return;
  if (std::holds_alternative<Unsupported>(reply->answer)) {
    is_ready_ = true;
  } else {
    fails(concat("broke the protocol: the operation `",
                 kImpossibleOperation,
                 "` must be unsupported, but it ",
                 describe(reply->answer)));
  }
}

void Adapter::kill() {
  if (process_ != nullptr) {
    process_->kill_group();
  } else if (pid_ && *pid_ > 1 && !exit_) {
    // The server has not reported its end, so that the number still belongs to its child. Numbers
    // below 2 would be whole groups of processes.
    ::kill(static_cast<pid_t>(*pid_), SIGKILL);
  }
}

bool claims(const Hello& hello, const std::string& capability) {
  return hello.capabilities.contains(capability);
}

}  // namespace tdconf
