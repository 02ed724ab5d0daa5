// SPDX-License-Identifier: BSD-3-Clause
#include "group/pending_transfer.h"

#include <c10/util/Exception.h>

#include <utility>

namespace tdref {

Pending::Pending(Posting posting, std::string what)
    : posting_(std::move(posting)), what_(std::move(what)) {}

std::function<Works()> Pending::settle(const std::optional<std::string>& problem) {
  const std::lock_guard lock(mutex_);
  try {
    TORCH_CHECK_VALUE(
        !problem.has_value(), what_, ": ", problem.value_or(""), "; nothing of it was sent");
    if (posting_.post) {
      works_ = posting_.post();
    }
  } catch (const std::exception&) {
    error_ = std::current_exception();
  }
  posting_.announcement.reset();
  is_settled_ = true;
  settled_.notify_all();
  return std::exchange(posting_.post, nullptr);
}

std::function<Works()> Pending::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (is_settled_) {
    return nullptr;
  }
  posting_.announcement.reset();
  error_ = std::move(error);
  is_settled_ = true;
  settled_.notify_all();
  return std::exchange(posting_.post, nullptr);
}

bool Pending::is_settled() {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

bool Pending::wait_until_settled(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return settled_.wait_for(lock, timeout, [&] { return is_settled_; });
}

Proposal propose(Side side, int first_tag, DescriptionPtr description, Posting posting) {
  check_note_bytes(description->text().size());
  Note note{Note::Kind::kStructure, side, first_tag, {}, description->digest()};
  return {std::move(note), std::move(posting), std::move(description)};
}

const Works& Pending::posted() {
  const std::lock_guard lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  return works_;
}

}  // namespace tdref
