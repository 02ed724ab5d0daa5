// SPDX-License-Identifier: BSD-3-Clause
#include "reference/operation.h"

#include <tdref/announcement.h>
#include <tdref/observe.h>

#include <utility>

namespace tdconf::bench::reference {
namespace {

/// Adds up what tdref copies with memcpy. Leaves that are contiguous are consolidated so, and all
/// leaves of a case are.
class CopyCounter : public tdref::Observer {
 public:
  std::shared_ptr<void> announced(const tdref::Announcement&) override { return nullptr; }
  void pickled(std::size_t nbytes) override { bytes_ += static_cast<std::int64_t>(nbytes); }
  void unpickled(std::size_t nbytes) override { bytes_ += static_cast<std::int64_t>(nbytes); }
  void consolidated(std::size_t nbytes) override { bytes_ += static_cast<std::int64_t>(nbytes); }
  void copied(std::size_t nbytes) override { bytes_ += static_cast<std::int64_t>(nbytes); }

  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace

std::int64_t ReferenceOperation::run_counted() {
  CopyCounter counter;
  const tdref::ObserverGuard guard(counter);
  run();
  return counter.bytes();
}

TransferOperation::TransferOperation(Ranks& ranks, tdref::TensorDict td)
    : ReferenceOperation(ranks), td_(std::move(td)), leaves_(leaves_of(td_)) {}

void TransferOperation::run() {
  if (ranks_.rank == 0) {
    send(td_);
  } else {
    receive(td_);
  }
}

void TransferOperation::refill() {
  if (ranks_.rank == 0) {
    fill(leaves_, 0);
  } else {
    poison(leaves_);
  }
}

void TransferOperation::check() {
  if (ranks_.rank == 1) {
    check_filled(leaves_, 0);
  }
}

}  // namespace tdconf::bench::reference
