// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/play/channel.h"
#include "engine/play/message.h"

namespace tdconf {

/// The answer to one request.
struct Reply {
  std::int64_t seq = 0;
  std::string request;
  Answer answer;
  /// The message as it came.
  nlohmann::json message;
};

/// A child of a fork server has ended.
struct Exited {
  std::int64_t pid = 0;
  std::optional<std::int64_t> status;
  std::optional<std::int64_t> signal;
};

/// The judge's end of one connection: numbers requests and matches answers to them.
class Peer {
 public:
  explicit Peer(FileDescriptor socket) : channel_(std::move(socket)) {}

  Channel& channel() { return channel_; }

  /// Sends a request and returns its number.
  std::int64_t send(const std::string& request, nlohmann::json fields = nlohmann::json::object());

  /// Decodes what has arrived.
  void receive();

  std::optional<Reply> take_reply();
  std::optional<Exited> take_exited();

  /// What the other side did against the protocol, after which nothing more is decoded.
  const std::optional<std::string>& violation() const { return violation_; }
  bool is_closed() const { return channel_.is_closed(); }

 private:
  void decode(nlohmann::json message);

  Channel channel_;
  std::int64_t next_seq_ = 1;
  std::map<std::int64_t, std::string> unanswered_;
  std::deque<Reply> replies_;
  std::deque<Exited> exited_;
  std::optional<std::string> violation_;
};

}  // namespace tdconf
