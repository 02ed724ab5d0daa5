// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/channel.h"
#include "common/command_line.h"
#include "common/stacks.h"

namespace tdconf::adapter {
namespace {

constexpr int kNoJudgeStatus = 2;
constexpr int kBrokenProtocolStatus = 69;
/// How long a transfer may wait for its other end when the case ends: every rank has answered its
/// last step, so that an answer is on its way or never comes.
constexpr std::chrono::milliseconds kPatience{500};

/// Keeps gloo and UCX on the loopback interface when the judge is on it: gloo would otherwise
/// resolve the host's own name, which need not have a usable address, and UCX use every interface.
void pin_interface(const std::string& judge_host) {
  if (judge_host == "localhost" || judge_host == "::1" || judge_host.starts_with("127.")) {
    setenv("GLOO_SOCKET_IFNAME", "lo", /*overwrite=*/0);
    setenv("UCX_NET_DEVICES", "lo", /*overwrite=*/0);
  }
}

class Server {
 public:
  Server(const Player& player, const CommandLine& line)
      : player_(player), rank_(line.rank), token_(line.token), channel_(line.host, line.port) {}

  [[noreturn]] void run() {
    std::thread([this] { read_requests(); }).detach();
    for (;;) {
      const Request request = next_request();
      json answer;
      try {
        answer = answer_to(request);
      } catch (const std::exception& error) {
        answer = {{"type", "error"}, {"message", error.what()}};
      }
      finish_step();
      write(request.seq, std::move(answer));
      // No destructor may hold the process up: that of a group waits for pending operations.
      if (std::holds_alternative<Bye>(request.body)) _exit(EXIT_SUCCESS);
    }
  }

 private:
  /// The control thread: never blocks on an operation.
  void read_requests() {
    try {
      while (const auto message = channel_.read()) take(*message);
      _exit(EXIT_SUCCESS);
    } catch (const std::exception& error) {
      std::cerr << player_.name << ": " << error.what() << std::endl;
      _exit(kBrokenProtocolStatus);
    }
  }

  void take(const json& message) {
    const std::int64_t seq = decode_seq(message);
    try {
      Request request = decode_request(message);
      if (std::holds_alternative<Ping>(request.body)) {
        write(seq, {{"type", "pong"}, {"step", step_in_progress()}});
      } else if (std::holds_alternative<Stacks>(request.body)) {
        write(seq,
              with_transcript(
                  {{"type", "stacks"}, {"text", describe_progress() + describe_stacks()}}));
      } else {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(request));
        queued_.notify_one();
      }
    } catch (const BadRequest& error) {
      write(seq, {{"type", "error"}, {"message", error.what()}});
    }
  }

  Request next_request() {
    std::unique_lock lock(mutex_);
    queued_.wait(lock, [this] { return !queue_.empty(); });
    Request request = std::move(queue_.front());
    queue_.pop_front();
    if (const auto* step = std::get_if<Step>(&request.body)) {
      in_progress_ = {request.seq, step->op};
      if (player_.transcript) player_.transcript->set_step(request.seq);
    }
    return request;
  }

  void finish_step() {
    const std::lock_guard lock(mutex_);
    in_progress_.reset();
    if (player_.transcript) player_.transcript->set_step(std::nullopt);
  }

  json step_in_progress() {
    const std::lock_guard lock(mutex_);
    return in_progress_ ? json(in_progress_->first) : json(nullptr);
  }

  std::string describe_progress() {
    const std::lock_guard lock(mutex_);
    if (!in_progress_) return "no step in progress\n";
    return "step " + std::to_string(in_progress_->first) + " in progress: " + in_progress_->second +
           '\n';
  }

  json answer_to(const Request& request) const {
    if (const auto* join = std::get_if<Join>(&request.body)) return answer_to_join(*join);
    if (const auto* step = std::get_if<Step>(&request.body)) return answer_step(player_, *step);
    if (std::holds_alternative<Hello>(request.body)) return hello();
    if (std::holds_alternative<EndCase>(request.body)) return end_case();
    if (std::holds_alternative<Reset>(request.body)) player_.reset();
    return {{"type", "done"}};
  }

  json end_case() const {
    const Leftovers left = player_.leftovers();
    json answer{{"type", "ended"}, {"leftovers", {{"values", left.values}, {"works", left.works}}}};
    if (player_.transcript) answer["transcript"] = player_.transcript->last_events(kPatience);
    return answer;
  }

  json with_transcript(json answer) const {
    if (player_.transcript) answer["transcript"] = player_.transcript->events();
    return answer;
  }

  json answer_to_join(const Join& join) const {
    if (join.rank != rank_) {
      throw BadRequest("join.rank: this process plays rank " + std::to_string(rank_) + ", got " +
                       std::to_string(join.rank));
    }
    return answer_join(player_, join);
  }

  json hello() const {
    return {{"type", "hello"},
            {"protocol", kProtocolVersion},
            {"token", token_},
            {"name", player_.name},
            {"version", player_.version},
            {"language", "C++"},
            {"pid", getpid()},
            {"capabilities", capabilities_of(player_)}};
  }

  void write(std::int64_t seq, json answer) {
    answer["seq"] = seq;
    try {
      channel_.write(answer);
    } catch (const BadRequest& error) {
      channel_.write({{"seq", seq}, {"type", "error"}, {"message", error.what()}});
    }
  }

  const Player& player_;
  const std::int64_t rank_;
  const std::string token_;
  Channel channel_;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::deque<Request> queue_;
  std::optional<std::pair<std::int64_t, std::string>> in_progress_;
};

}  // namespace

void run_adapter(const Player& player, int argc, char** argv) {
  const CommandLine line = parse_command_line(argc, argv, player.name);
  pin_interface(line.host);
  enable_stacks();
  try {
    Server(player, line).run();
  } catch (const std::exception& error) {
    std::cerr << player.name << ": " << error.what() << '\n';
    std::exit(kNoJudgeStatus);
  }
}

}  // namespace tdconf::adapter
