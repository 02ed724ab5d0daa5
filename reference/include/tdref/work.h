// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace tdref {

/// Waits for one message. A shared handle: copies wait for the same message.
///
/// Where both ranks compare the ends of a transfer (GroupOptions), its messages are posted when
/// they are known to fit, whether somebody waits or not.
///
/// The message keeps its tensors alive. A message whose last handle goes before wait() stays with
/// its group until Group::close(), so that it still travels.
class Work {
 public:
  class State;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Returns when a sent tensor may be changed, or a received one may be read. Again at once when
  /// called again.
  ///
  /// Blocks  until the peer posts its side; at most `timeout`, by default the group's.
  /// Errors  c10d::TimeoutError: the deadline passed; the connection to that peer is then lost for
  ///         good. c10::DistNetworkError: the connection broke. c10::ValueError: the other end of
  ///         the transfer does not fit, or was refused; nothing of it was sent.
  void wait(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

 private:
  std::shared_ptr<State> state_;
};

using Works = std::vector<Work>;

}  // namespace tdref
