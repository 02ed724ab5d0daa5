// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>

#include <chrono>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace tdref {

/// A connection of ranks that several threads may post on.
struct Connection {
  c10::intrusive_ptr<c10d::Backend> backend;  // null where there is none, and when closed
  std::mutex posting;                         // gloo counts what is posted without a lock
};

/// Connects `size` ranks by gloo; its keys are directly on `store`.
///
/// Blocks  until all of them have called it, at most `timeout`.
c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int size,
                                          std::chrono::milliseconds timeout);

/// Posts what `call` posts on the backend that it is given.
///
/// Errors  c10::Error: the connection is closed.
template <typename Call>
c10::intrusive_ptr<c10d::Work> post(Connection& connection, const Call& call) {
  const std::lock_guard lock(connection.posting);
  TORCH_CHECK(connection.backend != nullptr, "the group is closed");
  return call(*connection.backend);
}

}  // namespace tdref
