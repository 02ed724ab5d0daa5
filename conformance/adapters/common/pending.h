// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/work.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "common/player.h"

namespace tdconf::adapter {

/// The pending operations that steps started, under the names that the steps gave.
class PendingWorks {
 public:
  /// Keeps `works` under `name`, with the tensor that they fill if there is one to show. Without a
  /// name they are dropped, as a caller who ignores a returned list drops it.
  ///
  /// Returns the `value` of `returned`.
  json keep(const std::optional<std::string>& name,
            tdref::Works works,
            std::optional<at::Tensor> result = std::nullopt);

  /// Returns the tensor that the operations under `name` filled.
  ///
  /// Errors  BadRequest: no such name, not waited for, or no tensor was kept.
  const at::Tensor& result(const std::string& name);

  /// Counts the operations that nobody waited for.
  std::size_t unfinished() const;

  void clear() { by_name_.clear(); }

  /// The operation `wait` of the protocol.
  Operation wait_operation();

 private:
  struct Pending {
    tdref::Works works;
    std::optional<at::Tensor> result;
    bool waited = false;
  };

  Pending& find(const std::string& name);

  std::map<std::string, Pending> by_name_;
};

}  // namespace tdconf::adapter
