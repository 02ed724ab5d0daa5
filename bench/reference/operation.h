// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include "common/tree.h"
#include "common/values.h"
#include "reference/reference.h"

namespace tdconf::bench::reference {

/// An operation of tdref. Counts the storages that it consolidates, and the pickles that it writes
/// and reads: their bytes are copied without aten.
class ReferenceOperation : public Operation {
 public:
  explicit ReferenceOperation(Ranks& ranks) : ranks_(ranks) {}

  std::int64_t run_counted() final;

 protected:
  Ranks& ranks_;
};

/// An operation from a tensordict of rank 0 into one of rank 1, of the same case.
class TransferOperation : public ReferenceOperation {
 public:
  TransferOperation(Ranks& ranks, tdref::TensorDict td);

  void run() final;
  void refill() final;
  void check() final;

 protected:
  virtual void send(tdref::TensorDict& td) = 0;
  virtual void receive(tdref::TensorDict& td) = 0;

 private:
  tdref::TensorDict td_;
  Leaves leaves_;
};

}  // namespace tdconf::bench::reference
