// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace tdconf::bench {

/// How long a rank waits for another one, everywhere.
inline constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(1);

/// Opens the file `name` in a folder that all ranks have, for connect() and other keys.
c10::intrusive_ptr<c10d::Store> open_store(const std::string& folder,
                                           const std::string& name,
                                           int world);

/// Connects a group of gloo.
///
/// Blocks  until all ranks have called it, at most kTimeout.
c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int world);

/// What the ranks tell each other beside the operations, over connections of its own.
class Control {
 public:
  Control(const std::string& folder, int rank, int world);

  /// Returns the largest of the times that the ranks give. No rank returns before all have called
  /// it.
  double slowest(double seconds);

  /// Waits until every rank has called it as often; nothing is sent, so that nothing is counted.
  void meet();

 private:
  const int rank_;
  const int world_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  std::int64_t meetings_ = 0;
};

}  // namespace tdconf::bench
