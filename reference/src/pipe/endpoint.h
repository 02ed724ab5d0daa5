// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "pipe/worker.h"

namespace tdref {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// Returns the bytes of one number or struct as they lie in memory.
template <typename T>
ConstBytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
MutableBytes writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// One connection over UCX: messages of bytes between two processes, in order, of any size. Sizes
/// and meaning are for its users to agree on.
///
/// Blocks  each call until its deadline.
/// Errors  c10::DistNetworkError: the peer has closed or is gone, or UCX reports something else.
///         c10d::TimeoutError: not before the deadline.
class Endpoint {
 public:
  static std::unique_ptr<Endpoint> connect(const std::string& host,
                                           std::uint16_t port,
                                           Deadline deadline);
  /// Calls `on_listening` without any lock held.
  static std::unique_ptr<Endpoint> accept(const std::string& host,
                                          std::uint16_t port,
                                          const std::function<void(std::uint16_t)>& on_listening,
                                          Deadline deadline);

  /// Drops the connection with all that the peer has not got yet.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Sends a message, or leaves a small one to UCX, which sends it without further ado.
  void send(ConstBytes message, Deadline deadline);

  /// Waits for the next message and returns its size; the message itself is kept for receive().
  std::size_t next_size(Deadline deadline);

  /// Receives the next message.
  ///
  /// Errors  c10::ValueError: it has not the size of `buffer`.
  void receive(MutableBytes buffer, Deadline deadline);

  /// Waits until the peer's UCX has all that was sent, or the peer has closed.
  void flush(Deadline deadline);

 private:
  Endpoint() = default;

  void open(ucp_ep_params_t params);
  /// Tells the peer the tag under which this end receives, and learns the peer's.
  void exchange_tags(UcxWorker::Lock& lock, bool listens, Deadline deadline);
  void stream_send(UcxWorker::Lock& lock, ConstBytes bytes, Deadline deadline);
  void stream_receive(UcxWorker::Lock& lock, MutableBytes buffer, Deadline deadline);
  /// Waits for a request of UCX. When this throws, the connection is gone and UCX has let go of the
  /// buffer.
  void wait(UcxWorker::Lock& lock,
            ucs_status_ptr_t request,
            Deadline deadline,
            const std::string& what);
  void abandon(ucs_status_ptr_t request);
  /// Moves data until a request is over that waits for no peer, and frees it. If it does not end,
  /// nothing moves from here on.
  void finish(ucs_status_ptr_t request);
  void wait_for_next(UcxWorker::Lock& lock, Deadline deadline);
  void disconnect();
  void check_peer(const std::string& what) const;

  UcxWorker worker_;
  ucp_ep_h endpoint_ = nullptr;
  ucs_status_t peer_status_ = UCS_OK;
  std::uint64_t own_tag_ = 0;
  std::uint64_t peer_tag_ = 0;
  ucp_tag_message_h next_ = nullptr;
  std::size_t next_size_ = 0;
};

}  // namespace tdref
