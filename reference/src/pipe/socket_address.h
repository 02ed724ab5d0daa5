// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <string>

namespace tdref {

/// A numeric address of the internet, IPv4 or IPv6, and a port.
class SocketAddress {
 public:
  /// Errors  c10::ValueError: `host` is no numeric address.
  SocketAddress(const std::string& host, std::uint16_t port);

  /// Points into this object.
  ucs_sock_addr_t for_ucx() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// Returns the port of an address of the internet.
std::uint16_t port_of(const sockaddr_storage& address);

}  // namespace tdref
