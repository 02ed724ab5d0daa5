// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

struct IrecvOptions {
  /// The global rank of the sender; exclusive with `group_src`.
  std::optional<int> src = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// The rank of the sender in `group`, which must then be given.
  std::optional<int> group_src = std::nullopt;
  bool return_premature = false;
  std::int64_t init_tag = 0;
  bool pseudo_rand = false;
  bool consolidated = false;
};

/// Receives what send() or isend() sends, into the tensors of `td`, all messages at the same time.
///
/// Order   as send().
/// Wire    as recv().
/// Blocks  as recv(); with return_premature not at all: the pending messages are returned, one per
///         leaf, and each tensor may be read when its Work has been waited for.
/// Errors  as recv(); with return_premature those that need the peer come from Work::wait().
/// Source  tensordict 0.15.3 TensorDictBase.irecv
std::optional<Works> irecv(const World& world, TensorDictBase& td, const IrecvOptions& options);

}  // namespace tdref
