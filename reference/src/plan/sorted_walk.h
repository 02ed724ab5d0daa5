// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

namespace tdref {

/// Visits the tensors of a tensordict in the order in which they travel: keys sorted at each level,
/// nested tensordicts in their place, lazy stacks member by member.
class SortedWalk {
 public:
  virtual ~SortedWalk() = default;

  /// Errors  c10::NotImplementedError: a jagged leaf.
  void visit(const TensorDictBase& td);

 protected:
  /// `done` names what is done with a leaf, for errors; the walk begins below `path`.
  explicit SortedWalk(const char* done, KeyPath path = {}) : done_(done), path_(std::move(path)) {}

  virtual void add(const at::Tensor& tensor) = 0;
  virtual void visit_stack(const LazyStackedTensorDict& stack);

  /// Returns the key of what is being visited.
  const KeyPath& path() const { return path_; }

 private:
  void visit_items(const TensorDict& td);

  const char* done_;
  KeyPath path_;
};

}  // namespace tdref
