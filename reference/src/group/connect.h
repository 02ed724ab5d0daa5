// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace tdref {

/// Connects `size` ranks by gloo; its keys are directly on `store`.
///
/// Blocks  until all of them have called it, at most `timeout`.
c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int size,
                                          std::chrono::milliseconds timeout);

}  // namespace tdref
