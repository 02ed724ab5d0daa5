// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/peer_info.h"

#include <c10/util/Exception.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <random>
#include <string>

namespace tdref {

static_assert(std::endian::native == std::endian::little, "numbers travel as they lie in memory");

PeerInfo new_peer_info() {
  std::random_device random;
  const std::uint64_t tag = std::uint64_t{random()} << 32 | random();
  return {tag, checksum_of(tag)};
}

void check(const PeerInfo& theirs) {
  TORCH_CHECK_VALUE(theirs.checksum == checksum_of(theirs.tag),
                    "who connected is no TensorDictPipe: the checksum of its tag is wrong");
}

std::uint64_t checksum_of(std::uint64_t tag) {
  const std::string text = "(" + std::to_string(tag) + ",)";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  const int is_digested =
      EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  TORCH_CHECK(is_digested == 1, "OpenSSL has no SHA-1, which the pipe's first message needs");
  std::uint64_t checksum = 0;
  for (int i = 0; i < 8; ++i) {
    checksum = checksum << 8 | digest[static_cast<std::size_t>(i)];
  }
  return checksum;
}

}  // namespace tdref
