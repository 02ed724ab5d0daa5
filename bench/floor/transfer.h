// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/values.h"
#include "floor/floor.h"

namespace tdconf::bench::floor {

/// Sends messages from rank 0 to rank 1: posts all, then waits for all. Message i has the tag
/// i * tag_step.
class Transfer : public Operation {
 public:
  Transfer(const Ranks& ranks, Leaves messages, int tag_step)
      : ranks_(ranks), messages_(std::move(messages)), tag_step_(tag_step) {}

  void run() override;
  void refill() override;
  void check() override;

 private:
  const Ranks& ranks_;
  Leaves messages_;
  int tag_step_;
};

}  // namespace tdconf::bench::floor
