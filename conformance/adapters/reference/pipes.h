// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/pipe.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace tdconf::adapter {

/// The pipes of one rank in one case, under the names that the case gives them.
class Pipes {
 public:
  /// What both ends of a pipe know of each other before they meet.
  struct Meeting {
    c10::intrusive_ptr<c10d::Store> store;
    std::int64_t rank = 0;
    std::int64_t peer = 0;
    bool listen = false;
    std::chrono::milliseconds timeout{0};
  };

  /// Whether tdref was built with UCX; without it every pipe is Unsupported.
  static bool are_built();

  /// Opens one end of a pipe over loopback, and waits for the other.
  ///
  /// Wire    the rank that listens puts its port into the store, as the protocol's `open_pipe` says.
  /// Errors  BadRequest: the name is taken, or the store has no port where the other rank puts it.
  ///         What tdref and the store raise, unchanged.
  void open(const std::string& name, const Meeting& meeting);

  /// Do what tdref does with the pipe of this name.
  ///
  /// Errors  BadRequest: no pipe has this name. What tdref raises, unchanged.
  void send(const std::string& name,
            const tdref::TensorDictBase& td,
            const tdref::SendOptions& options);
  tdref::AnyTensorDict recv(const std::string& name,
                            const tdref::TensorDictBase& td,
                            const tdref::RecvOptions& options);
  void close(const std::string& name);

  /// Drops all pipes.
  void clear();

 private:
  tdref::TensorDictPipe& named(const std::string& name);
  std::string next_key(const Meeting& meeting);
  std::string names() const;

  // Whoever holds one need not know how it ends.
  std::map<std::string, std::shared_ptr<tdref::TensorDictPipe>> by_name_;
  std::map<std::string, int> opened_;
};

}  // namespace tdconf::adapter
