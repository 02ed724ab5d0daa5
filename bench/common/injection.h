// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "common/operation.h"

namespace tdconf::bench {

/// Makes an operation slower by a fraction of the time that it took.
class Injected : public Operation {
 public:
  Injected(std::unique_ptr<Operation> operation, double fraction)
      : operation_(std::move(operation)), fraction_(fraction) {}

  void run() override {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    operation_->run();
    const auto end = Clock::now();
    const auto until = end + std::chrono::duration_cast<Clock::duration>((end - start) * fraction_);
    while (Clock::now() < until) {
    }
  }

  void refill() override { operation_->refill(); }
  void check() override { operation_->check(); }
  std::int64_t run_counted() override { return operation_->run_counted(); }

 private:
  std::unique_ptr<Operation> operation_;
  double fraction_;
};

}  // namespace tdconf::bench
