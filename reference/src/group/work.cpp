// SPDX-License-Identifier: BSD-3-Clause
#include "group/work.h"

#include <ATen/core/grad_mode.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <algorithm>

namespace tdref {
namespace {

class PostedLater : public Work::State {
 public:
  PostedLater(PostedWorks posted, std::size_t index, std::chrono::milliseconds timeout)
      : posted_(std::move(posted)), index_(index), timeout_(timeout) {}

  void wait(std::optional<std::chrono::milliseconds> timeout) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout.value_or(timeout_);
    auto work = posted_(timeout.value_or(timeout_)).at(index_);
    work.wait(time_left(deadline));
  }

 private:
  PostedWorks posted_;
  std::size_t index_;
  std::chrono::milliseconds timeout_;
};

}  // namespace

void DroppedMessages::keep(c10::intrusive_ptr<c10d::Work> message) {
  const std::lock_guard lock(mutex_);
  if (!closed_) {
    messages_.push_back(std::move(message));
  }
}

void DroppedMessages::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  messages_.clear();
}

std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = deadline - std::chrono::steady_clock::now();
  return std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(1));
}

void wait_for(c10d::Work& message, const What& what, std::chrono::milliseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_late = [&] { return std::chrono::steady_clock::now() - start >= timeout; };
  const auto nothing_came = [&] {
    return c10::str(what(), ": nothing within ", timeout.count(), " ms");
  };
  bool arrived = false;
  try {
    arrived = message.wait(timeout);
  } catch (const gloo::Exception& error) {
    if (is_late()) {
      C10D_THROW_ERROR(TimeoutError,
                       c10::str(nothing_came(), "; the connection is lost (", error.what(), ")"));
    }
    C10D_THROW_ERROR(DistNetworkError, c10::str(what(), ": ", error.what()));
  } catch (const c10::Error&) {
    // A collective's own deadline may be later than that of who waits for it.
    if (is_late()) {
      C10D_THROW_ERROR(TimeoutError, nothing_came());
    }
    throw;
  }
  C10D_CHECK_WITH(DistNetworkError, arrived, what(), ": given up");
}

MessageState::MessageState(c10::intrusive_ptr<c10d::Work> message,
                           What what,
                           std::chrono::milliseconds timeout,
                           std::shared_ptr<DroppedMessages> dropped)
    : message_(std::move(message)),
      what_(std::move(what)),
      timeout_(timeout),
      dropped_(std::move(dropped)) {}

MessageState::~MessageState() {
  if (message_) {
    dropped_->keep(std::move(message_));
  }
}

void MessageState::wait(std::optional<std::chrono::milliseconds> timeout) {
  const std::lock_guard lock(mutex_);
  if (!message_) {
    return;
  }
  wait_for(*message_, what_, timeout.value_or(timeout_));
  message_.reset();
  if (receipt_.has_value()) {
    if (!receipt_->target.is_same(receipt_->landed)) {
      const at::NoGradGuard bytes_have_no_history;
      receipt_->target.copy_(receipt_->landed);
    }
    receipt_.reset();
  }
}

Works works_from(const PostedWorks& posted, std::size_t count, std::chrono::milliseconds timeout) {
  Works works;
  works.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    works.emplace_back(std::make_shared<PostedLater>(posted, index, timeout));
  }
  return works;
}

void Work::wait(std::optional<std::chrono::milliseconds> timeout) {
  state_->wait(timeout);
}

}  // namespace tdref
