// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "common/case.h"

namespace tdconf::bench {

/// The part of one rank in an operation that is timed again and again. What it needs is made when it
/// is made.
class Operation {
 public:
  virtual ~Operation() = default;

  /// Does the operation once, together with all other ranks.
  virtual void run() = 0;

  /// Gives what this rank sends its values, and what it receives others.
  virtual void refill() = 0;

  /// Checks what the last run() after refill() brought; does nothing on a rank that receives nothing.
  ///
  /// Errors  c10::ValueError: an element is not what the formula says.
  virtual void check() = 0;

  /// As run(); returns the bytes that are known to have been copied by other means than aten.
  virtual std::int64_t run_counted() {
    run();
    return 0;
  }
};

/// Says which ranks take part in an operation.
enum class Members : std::uint8_t { kTwo, kAll };

/// One implementation that is timed.
class Column {
 public:
  virtual ~Column() = default;

  /// Makes the part of this rank. Every rank makes the same operations in the same order.
  ///
  /// Errors  c10::ValueError: no such operation, or one of which a rank would see nothing.
  virtual std::unique_ptr<Operation> make(const Case& c) = 0;
};

}  // namespace tdconf::bench
