// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/work.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace tdref {

/// Names a message for an error. Written only then: a transfer may have ten thousand messages.
using What = std::function<std::string()>;

/// Keeps the messages that were dropped without being waited for, so that they still travel: gloo
/// cancels a message with its handle.
class DroppedMessages {
 public:
  void keep(c10::intrusive_ptr<c10d::Work> message);
  /// Gives up all messages, and any that comes later.
  void close();

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<c10::intrusive_ptr<c10d::Work>> messages_;
};

/// What a Work waits for.
class Work::State {
 public:
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  virtual void wait(std::optional<std::chrono::milliseconds> timeout) = 0;
};

/// Holds one message until it has been waited for.
class MessageState : public Work::State {
 public:
  struct Receipt {
    at::Tensor landed;  // what the transport writes into
    at::Tensor target;  // what the caller reads; another tensor if it is not contiguous
  };

  MessageState(c10::intrusive_ptr<c10d::Work> message,
               What what,
               std::chrono::milliseconds timeout,
               std::shared_ptr<DroppedMessages> dropped);
  ~MessageState() override;

  void set_receipt(Receipt receipt) { receipt_ = std::move(receipt); }
  void wait(std::optional<std::chrono::milliseconds> timeout) override;

 private:
  std::mutex mutex_;
  c10::intrusive_ptr<c10d::Work> message_;  // null once waited for
  What what_;
  std::chrono::milliseconds timeout_;
  std::optional<Receipt> receipt_;
  std::shared_ptr<DroppedMessages> dropped_;
};

/// Returns the messages that are or will be posted, and waits for that at most as long as it is
/// given.
using PostedWorks = std::function<const Works&(std::chrono::milliseconds timeout)>;

/// Returns a Work for each of the first `count` messages of `posted`, which waits for the posting,
/// then for the message, by default together at most `timeout`.
Works works_from(const PostedWorks& posted, std::size_t count, std::chrono::milliseconds timeout);

/// Returns how long it is until `deadline`; at least 1 ms, because to c10d 0 means no timeout.
std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline);

/// Waits for `message` and names what failed: gloo has one type for deadlines and broken
/// connections, and does not name the peer.
void wait_for(c10d::Work& message, const What& what, std::chrono::milliseconds timeout);

}  // namespace tdref
