// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tdref {

/// One leaf that is reduced as one tensor.
struct ReducedLeaf {
  /// Says which slice of the leaf a tensor is: the one at `index` of `dim`.
  struct Slice {
    std::int64_t dim = 0;
    std::int64_t index = 0;
  };
  /// A tensor of the tensordict, and where it lies within the leaf: one slice after the other, none
  /// if it is the whole leaf.
  struct Part {
    at::Tensor tensor;
    std::vector<Slice> place;
  };

  KeyPath key;
  Shape shape;
  /// At least one. All have one dtype and device.
  std::vector<Part> parts;
  /// Whether a part may lie in the memory of another leaf's: two keys of one tensor, two views.
  bool shares_memory = false;

  const at::Tensor& first() const { return parts.front().tensor; }
  /// Whether the leaf is made of the leaves of a lazy stack's members.
  bool is_stacked() const { return !parts.front().place.empty(); }
  std::int64_t nbytes() const;
};

/// Says what the leaves of a lazy stack are.
enum class LazyStacks : std::uint8_t {
  kMemberByMember,  // those of each member, under its number: all_reduce()
  kStacked,         // those of a dense tensordict of the same keys and shapes: reduce()
};

/// Lists what is reduced.
///
/// Order   as plan_transfer(); a stacked leaf in the place that it has in the dense tensordict.
/// Errors  c10::NotImplementedError: a jagged leaf. c10::Error: stacked, and the members differ in
///         their keys, or in the shape, dtype or layout of a leaf.
/// Source  tensordict 0.15.3 TensorDictBase._reduce, LazyStackedTensorDict._reduce
std::vector<ReducedLeaf> plan_reductions(const TensorDictBase& td, LazyStacks stacks);

/// The leaves of one reduction. Several are packed into one tensor, in their order.
using Bucket = std::vector<ReducedLeaf>;

/// Divides leaves among reductions.
///
/// Order   one leaf each, as they come; with bucket_bytes first those that are never packed, then
///         the buckets of each device and dtype, in the order of their first leaf.
/// Shapes  a bucket is full when the next leaf would make it larger than `bucket_bytes`, so that a
///         leaf of more bytes is alone. Never packed: a leaf that is not contiguous or not strided.
/// Errors  c10::ValueError: bucket_bytes is not positive.
/// Source  tensordict 0.15.3 _bucketed_collective
std::vector<Bucket> plan_buckets(std::vector<ReducedLeaf> leaves,
                                 const std::optional<std::int64_t>& bucket_bytes);

}  // namespace tdref
