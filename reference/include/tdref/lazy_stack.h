// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict_base.h>

#include <optional>
#include <string>
#include <vector>

namespace tdref {

class AnyTensorDict;

/// Holds tensordicts that count as one, stacked along a dimension, without copying their tensors.
/// The members may differ in their keys and in the shapes of their leaves.
///
/// Shapes  the members have one batch size *B; batch_size() has their number at `stack_dim` of *B.
class LazyStackedTensorDict final : public TensorDictBase {
 public:
  /// Errors  c10::ValueError: no members, another batch size, a stack dimension outside of *B.
  explicit LazyStackedTensorDict(std::vector<AnyTensorDict> members,
                                 std::int64_t stack_dim = 0,
                                 std::optional<std::string> stack_dim_name = std::nullopt);

  const std::vector<AnyTensorDict>& members() const { return members_; }
  /// Gives the members for changes, which must leave their batch sizes as they are.
  std::vector<AnyTensorDict>& edit_members() { return members_; }

  std::int64_t stack_dim() const { return stack_dim_; }
  const std::optional<std::string>& stack_dim_name() const { return stack_dim_name_; }

  void lock() override;
  void unlock() override;

 private:
  std::vector<AnyTensorDict> members_;
  std::int64_t stack_dim_;
  std::optional<std::string> stack_dim_name_;
};

}  // namespace tdref
