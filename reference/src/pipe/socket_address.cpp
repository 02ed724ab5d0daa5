// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/socket_address.h"

#include <c10/util/Exception.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace tdref {

SocketAddress::SocketAddress(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  TORCH_CHECK_VALUE(status == 0, "the host of a pipe is a numeric address, got '", host, "'");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> guard(found, &freeaddrinfo);
  std::memcpy(&storage_, found->ai_addr, found->ai_addrlen);
  size_ = found->ai_addrlen;
}

ucs_sock_addr_t SocketAddress::for_ucx() const {
  return {reinterpret_cast<const sockaddr*>(&storage_), size_};
}

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof(six));
    return ntohs(six.sin6_port);
  }
  sockaddr_in four{};
  std::memcpy(&four, &address, sizeof(four));
  return ntohs(four.sin_port);
}

}  // namespace tdref
