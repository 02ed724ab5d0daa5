// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>

namespace tdref {

struct RecvOptions {
  /// The global rank of the sender; exclusive with `group_src`.
  std::optional<int> src = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// The rank of the sender in `group`, which must then be given.
  std::optional<int> group_src = std::nullopt;
  std::int64_t init_tag = 0;
  bool pseudo_rand = false;
  bool consolidated = false;
};

/// Receives what send() or isend() sends, into the tensors of `td`, and returns the tag of the last
/// leaf.
///
/// Order   as send().
/// Wire    as send(). consolidated: one message into the consolidated storage, whose views are the
///         leaves; returns nothing.
/// Shapes  those of the sender. Non-tensor data keeps its value.
/// Peer    calls send() or isend(); what does not fit is treated as send() says.
/// Blocks  until all messages have arrived, at most the group's timeout.
/// Errors  as send(), and before anything is received: c10::ValueError: a leaf whose elements share
///         memory (expanded). AttributeError: consolidated, and `td` is not consolidated.
/// Source  tensordict 0.15.3 TensorDictBase.recv
std::optional<std::int64_t> recv(const World& world,
                                 TensorDictBase& td,
                                 const RecvOptions& options);

}  // namespace tdref
