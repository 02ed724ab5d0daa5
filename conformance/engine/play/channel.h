// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/play/file_descriptor.h"

namespace tdconf {

/// A connection to an adapter: one JSON object per line, at most 8 MiB each, in both directions.
/// It never blocks: the owner polls fd() and calls receive() and flush().
class Channel {
 public:
  explicit Channel(FileDescriptor socket);

  int fd() const { return socket_.get(); }
  bool has_unsent() const { return !unsent_.empty(); }
  /// True once the other side has closed the connection.
  bool is_closed() const { return is_closed_; }

  /// Queues a message and sends what the connection takes.
  ///
  /// Errors  ProtocolError: the message is longer than the limit.
  void send(const nlohmann::json& message);

  /// Sends more of what is queued.
  void flush();

  /// Reads what has arrived.
  void receive();

  /// Returns the next complete message.
  ///
  /// Errors  ProtocolError: a line that is not JSON, or longer than the limit.
  std::optional<nlohmann::json> take();

 private:
  FileDescriptor socket_;
  std::string unsent_;
  std::string received_;
  std::size_t scanned_ = 0;
  bool is_closed_ = false;
};

/// Waits for adapters on 127.0.0.1, on a port that the system chooses.
class Listener {
 public:
  /// Errors  std::system_error.
  Listener();

  int fd() const { return socket_.get(); }
  /// `HOST:PORT`, as adapters are told.
  const std::string& address() const { return address_; }

  /// Takes one waiting connection.
  std::optional<FileDescriptor> accept();

 private:
  FileDescriptor socket_;
  std::string address_;
};

}  // namespace tdconf
