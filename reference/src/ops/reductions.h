// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

/// What all_reduce() and reduce() are called with.
struct ReductionArguments {
  Group group;
  c10d::ReduceOp op;
  /// The global rank that gets the result; all ranks do if it is not given.
  std::optional<int> dst = std::nullopt;
  std::optional<std::int64_t> bucket_bytes = std::nullopt;
};

/// Posts the reductions of all leaves, once all ranks are known to mean the same, and returns a Work
/// for each. What is copied, here and for a leaf that is written back, is copied at the call.
///
/// Errors  those that all_reduce() and reduce() have before anything is sent.
Works start_reductions(const TensorDictBase& td, const ReductionArguments& arguments);

/// As start_reductions(), and waits for all of them; also without leaves, until all ranks are known
/// to mean the same.
///
/// Blocks  together at most the group's timeout.
/// Errors  the first, when all have been waited for.
void complete_reductions(const TensorDictBase& td, const ReductionArguments& arguments);

}  // namespace tdref
