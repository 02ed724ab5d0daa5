// SPDX-License-Identifier: BSD-3-Clause
#include "group/pending_transfer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

#include "group/conversation.h"
#include "group/work.h"

namespace tdref {
namespace {

/// Waits for the posting, then for the message.
class AgreedWork : public Work::State {
 public:
  AgreedWork(std::shared_ptr<PendingTransfer> transfer,
             std::size_t place,
             std::chrono::milliseconds timeout)
      : transfer_(std::move(transfer)), place_(place), timeout_(timeout) {}

  void wait(std::optional<std::chrono::milliseconds> timeout) override {
    using std::chrono::milliseconds;
    const auto deadline = std::chrono::steady_clock::now() + timeout.value_or(timeout_);
    auto work = transfer_->posted(timeout.value_or(timeout_)).at(place_);
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    work.wait(std::max(left, milliseconds(1)));  // to c10d, 0 means no timeout
  }

 private:
  std::shared_ptr<PendingTransfer> transfer_;
  std::size_t place_;
  std::chrono::milliseconds timeout_;
};

}  // namespace

PendingTransfer::PendingTransfer(Proposal proposal,
                                 std::string what,
                                 std::shared_ptr<Conversation> conversation)
    : proposal_(std::move(proposal)),
      what_(std::move(what)),
      conversation_(std::move(conversation)) {}

Works PendingTransfer::posted(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!settled_.wait_for(lock, timeout, [&] { return is_settled_; })) {
    lock.unlock();  // giving up settles every transfer of the conversation
    conversation_->give_up(*this, timeout);
    lock.lock();
  }
  if (error_) {
    std::rethrow_exception(error_);
  }
  return works_;
}

void PendingTransfer::settle(const End& here, const End& there) {
  const std::lock_guard lock(mutex_);
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
}

void PendingTransfer::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (is_settled_) {
    return;
  }
  error_ = std::move(error);
  is_settled_ = true;
  settled_.notify_all();
}

bool PendingTransfer::is_settled() {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

void PendingTransfer::forget_proposal() {
  std::function<Works()>
      post;  // destroyed without the lock: it may hold the last handle of a group
  const std::lock_guard lock(mutex_);
  post.swap(proposal_.post);
}

Works works_of(const std::shared_ptr<PendingTransfer>& transfer,
               std::size_t count,
               std::chrono::milliseconds timeout) {
  Works works;
  works.reserve(count);
  for (std::size_t place = 0; place < count; ++place) {
    works.emplace_back(std::make_shared<AgreedWork>(transfer, place, timeout));
  }
  return works;
}

}  // namespace tdref
