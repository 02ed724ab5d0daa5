// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "common/fields.h"

namespace tdconf::adapter {

inline constexpr std::size_t kMaxMessageBytes = std::size_t{8} << 20;
/// How deep the lists and objects of a message may nest: whatever walks one recurses.
inline constexpr int kMaxNesting = 64;

/// The control connection to the judge: one JSON object per line in each direction.
class Channel {
 public:
  /// Dials the judge.
  ///
  /// Blocks  10 seconds at most.
  /// Errors  std::runtime_error: `host` has no address or nobody listens there.
  Channel(const std::string& host, const std::string& port);
  /// Takes over a socket that is connected already.
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Returns the next message, or nothing once the connection has ended.
  ///
  /// Errors  BadRequest: the line is no JSON, is longer than kMaxMessageBytes, or nests deeper than
  ///         kMaxNesting.
  std::optional<json> read();

  /// Writes one message; any thread may call it. A lost connection is noticed by read().
  ///
  /// Errors  BadRequest: the message is longer than kMaxMessageBytes.
  void write(const json& message);

 private:
  int socket_ = -1;
  std::string buffer_;
  std::mutex write_mutex_;
};

}  // namespace tdconf::adapter
