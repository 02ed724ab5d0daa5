// SPDX-License-Identifier: BSD-3-Clause
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "counting/counting.h"

namespace {

namespace fs = std::filesystem;

/// The sockets of this process: their descriptors, by the names that the kernel never gives twice.
std::map<std::string, int> sockets() {
  std::map<std::string, int> found;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    const auto target = fs::read_symlink(entry.path(), closed_meanwhile).string();
    if (!closed_meanwhile && target.starts_with("socket:")) {
      found[target] = std::stoi(entry.path().filename().string());
    }
  }
  return found;
}

std::set<std::string>& ignored() {
  static std::set<std::string> names;
  return names;
}

std::int64_t received_by(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  const bool is_tcp =
      getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
      length >= offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received);
  return is_tcp ? static_cast<std::int64_t>(info.tcpi_bytes_received) : 0;
}

}  // namespace

void tdconf_counting_ignore_open_sockets() {
  for (const auto& [name, descriptor] : sockets()) {
    ignored().insert(name);
  }
}

std::int64_t tdconf_counting_received_bytes() {
  std::int64_t bytes = 0;
  for (const auto& [name, descriptor] : sockets()) {
    if (ignored().count(name) == 0) {
      bytes += received_by(descriptor);
    }
  }
  return bytes;
}
