// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/channel.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "engine/input/json_reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

constexpr std::size_t kMaxMessageBytes = 8U << 20;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void check_length(std::size_t size_bytes, const char* direction) {
  if (size_bytes <= kMaxMessageBytes) return;
  throw ProtocolError(
      concat("a message ", direction, " is longer than ", kMaxMessageBytes, " bytes"));
}

/// Writing a message out again is recursive, whoever sent it.
bool refuse_depth(int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
  constexpr int kMaxDepth = 512;
  if (depth > kMaxDepth) {
    throw ProtocolError(concat("a message is nested deeper than ", kMaxDepth, " levels"));
  }
  return true;
}

}  // namespace

Channel::Channel(FileDescriptor socket) : socket_(std::move(socket)) {
  const int on = 1;
  setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void Channel::send(const nlohmann::json& message) {
  const std::string line = message.dump();
  check_length(line.size(), "to the adapter");
  unsent_ += line;
  unsent_ += '\n';
  flush();
}

void Channel::flush() {
  while (!unsent_.empty() && !is_closed_) {
    const ssize_t sent = ::send(fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      // What the adapter said before it went away is still to be read; receive() sees the end.
      unsent_.clear();
      return;
    }
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

void Channel::receive() {
  std::array<char, 1U << 16> chunk{};
  while (!is_closed_) {
    const ssize_t count = recv(fd(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count > 0) {
      received_.append(chunk.data(), static_cast<std::size_t>(count));
      // One message too long is enough to know; the rest must not fill the memory.
      if (received_.size() > 2 * kMaxMessageBytes) return;
    } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      is_closed_ = true;
    }
  }
}

std::optional<nlohmann::json> Channel::take() {
  const std::size_t end = received_.find('\n', scanned_);
  check_length(end == std::string::npos ? received_.size() : end, "from the adapter");
  if (end == std::string::npos) {
    scanned_ = received_.size();
    return std::nullopt;
  }
  const std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  scanned_ = 0;
  try {
    return nlohmann::json::parse(line, refuse_depth);
  } catch (const nlohmann::json::exception&) {
    constexpr std::size_t kShown = 80;
    throw ProtocolError(concat("a line is not JSON: ",
                               nlohmann::json(line.substr(0, kShown))
                                   .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  }
}

Listener::Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd() < 0 || bind(fd(), generic, size) != 0 || listen(fd(), SOMAXCONN) != 0 ||
      getsockname(fd(), generic, &size) != 0) {
    fail("cannot listen on 127.0.0.1");
  }
  address_ = concat("127.0.0.1:", ntohs(address.sin_port));
}

std::optional<FileDescriptor> Listener::accept() {
  const int accepted = accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) return std::nullopt;
  return FileDescriptor(accepted);
}

}  // namespace tdconf
