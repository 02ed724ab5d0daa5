// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "counting/counting.h"

namespace {

sockaddr* as_address(sockaddr_in& address) {
  void* any = &address;
  return static_cast<sockaddr*>(any);
}

/// Two sockets of this process that are connected over TCP.
class Connection {
 public:
  Connection() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(listener, as_address(address), length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, as_address(address), &length), 0);
    sender_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(sender_, as_address(address), length), 0);
    receiver_ = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~Connection() {
    close(sender_);
    close(receiver_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void carry(const std::string& bytes) const {
    EXPECT_EQ(write(sender_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    std::string received(bytes.size(), ' ');
    EXPECT_EQ(recv(receiver_, received.data(), received.size(), MSG_WAITALL),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  int sender_ = -1;
  int receiver_ = -1;
};

TEST(ReceivedBytes, AddsUpWhatAllSocketsReceived) {
  const Connection first;
  const Connection second;
  const auto before = tdconf_counting_received_bytes();
  first.carry(std::string(100, 'a'));
  second.carry(std::string(23, 'b'));
  EXPECT_EQ(tdconf_counting_received_bytes() - before, 123);
}

TEST(ReceivedBytes, LeavesOutTheSocketsThatAreIgnored) {
  const Connection ignored;
  tdconf_counting_ignore_open_sockets();
  const Connection later;
  const auto before = tdconf_counting_received_bytes();
  ignored.carry(std::string(100, 'a'));
  later.carry(std::string(23, 'b'));
  EXPECT_EQ(tdconf_counting_received_bytes() - before, 23);
}

}  // namespace
