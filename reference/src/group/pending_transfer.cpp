// SPDX-License-Identifier: BSD-3-Clause
#include "group/pending_transfer.h"

#include <c10/util/Exception.h>

#include <utility>

namespace tdref {

PendingTransfer::PendingTransfer(Proposal proposal, std::string what)
    : proposal_(std::move(proposal)), what_(std::move(what)) {}

std::function<Works()> PendingTransfer::settle(const End& here, const End& there) {
  const std::lock_guard lock(mutex_);
  proposal_.announcement.reset();
  try {
    const auto problem = difference(here, there);
    TORCH_CHECK_VALUE(
        !problem.has_value(), what_, ": ", problem.value_or(""), "; nothing of it was sent");
    if (proposal_.post) {
      works_ = proposal_.post();
    }
  } catch (const std::exception&) {
    error_ = std::current_exception();
  }
  is_settled_ = true;
  settled_.notify_all();
  return std::exchange(proposal_.post, nullptr);
}

std::function<Works()> PendingTransfer::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (is_settled_) {
    return nullptr;
  }
  proposal_.announcement.reset();
  error_ = std::move(error);
  is_settled_ = true;
  settled_.notify_all();
  return std::exchange(proposal_.post, nullptr);
}

bool PendingTransfer::is_settled() {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

bool PendingTransfer::wait_until_settled(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return settled_.wait_for(lock, timeout, [&] { return is_settled_; });
}

Works PendingTransfer::posted() {
  const std::lock_guard lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  return works_;
}

}  // namespace tdref
