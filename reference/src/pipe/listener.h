// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

#include "pipe/socket_address.h"
#include "pipe/worker.h"

namespace tdref {

/// Listens at an address for one peer, and turns all others away. The worker's lock is held around
/// each call.
class Listener {
 public:
  /// Errors  c10::DistNetworkError: the address is in use, or is none of this machine's.
  Listener(UcxWorker& worker, const SocketAddress& address);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const;

  /// Returns what a peer asked, to make a connection of.
  ///
  /// Errors  c10d::TimeoutError: nobody connected before the deadline.
  ucp_conn_request_h wait_for_peer(UcxWorker::Lock& lock, Deadline deadline);

 private:
  void take(ucp_conn_request_h request);

  UcxWorker& worker_;
  ucp_listener_h listener_ = nullptr;
  ucp_conn_request_h request_ = nullptr;
  bool has_peer_ = false;
};

}  // namespace tdref
