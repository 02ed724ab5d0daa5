// SPDX-License-Identifier: BSD-3-Clause
#include "common/channel.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace tdconf::adapter {
namespace {

constexpr timeval kDeadline{.tv_sec = 10, .tv_usec = 0};

int dial(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
  if (fd < 0) return -1;
  // On Linux this bounds connect() as well as send().
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kDeadline, sizeof(kDeadline));
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

/// The parser itself keeps no stack of calls, so it may stop at the first bracket that is too deep.
json parse(const std::string& line) {
  const auto check_nesting = [](int outer, json::parse_event_t event, json&) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && outer >= kMaxNesting) {
      throw BadRequest("a line of the control connection nests deeper than " +
                       std::to_string(kMaxNesting) + " levels");
    }
    return true;
  };
  json message = json::parse(line, check_nesting, /*allow_exceptions=*/false);
  if (message.is_discarded()) throw BadRequest("a line of the control connection is no JSON");
  return message;
}

}  // namespace

Channel::Channel(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string where = "cannot reach the judge at " + host + ':' + port + ": ";
  if (const int status = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); status != 0) {
    throw std::runtime_error(where + gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  for (const addrinfo* address = found; address && socket_ < 0; address = address->ai_next) {
    socket_ = dial(*address);
  }
  if (socket_ < 0) throw std::runtime_error(where + std::strerror(errno));
}

Channel::~Channel() {
  close(socket_);
}

std::optional<json> Channel::read() {
  std::array<char, 65536> chunk;
  std::size_t searched = 0;
  for (;;) {
    const auto end = buffer_.find('\n', searched);
    if (std::min(end, buffer_.size()) > kMaxMessageBytes) {
      throw BadRequest("a message is longer than " + std::to_string(kMaxMessageBytes) + " bytes");
    }
    if (end != std::string::npos) {
      const std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return parse(line);
    }
    searched = buffer_.size();
    const ssize_t count = recv(socket_, chunk.data(), chunk.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

void Channel::write(const json& message) {
  // Texts of exceptions may hold anything: replacing what is no UTF-8 saves the rest of the answer.
  const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  if (line.size() > kMaxMessageBytes) {
    throw BadRequest("an answer of " + std::to_string(line.size()) + " bytes is longer than " +
                     std::to_string(kMaxMessageBytes));
  }
  const std::lock_guard lock(write_mutex_);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t count = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      // Half a message may be out: ending the connection lets read() see it and nobody parse it.
      shutdown(socket_, SHUT_RDWR);
      return;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace tdconf::adapter
