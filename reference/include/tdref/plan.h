// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tdref {

struct TagOptions {
  std::int64_t init_tag = 0;
  bool pseudo_rand = false;
};

/// Says that one leaf travels as one message with one tag.
struct PlannedLeaf {
  KeyPath key;
  int tag = 0;
  at::Tensor tensor;
};

/// Lists the messages of a leaf-wise transfer.
///
/// Order   keys in code-point order at each level, a nested tensordict visited in its place; of a
///         lazy stack all leaves of member 0, then of member 1, and so on, each under its number; of
///         a tensorclass its fields, as those of a tensordict.
/// Wire    leaf i (from 0) has the tag `init_tag + i`, zero-element leaves included; non-tensor
///         data and nested tensordicts without leaves take none. With pseudo_rand the tags are
///         PseudoRandomTags(init_tag).
/// Errors  c10::ValueError: init_tag is negative, or a tag is larger than 2^31 - 1.
///         c10::NotImplementedError: a jagged leaf, which is no single tensor.
/// Source  tensordict 0.15.3 TensorDictBase._send
std::vector<PlannedLeaf> plan_transfer(const TensorDictBase& td, const TagOptions& options = {});

/// Returns the tag that the first leaf of a transfer has, or would have; nothing if there is no
/// such tag.
std::optional<int> first_tag(const TagOptions& options);

/// Returns the tag of the last leaf of a plan, `init_tag - 1` if it has none: what recv() and
/// isend() return.
std::int64_t last_tag(const std::vector<PlannedLeaf>& plan, const TagOptions& options);

}  // namespace tdref
