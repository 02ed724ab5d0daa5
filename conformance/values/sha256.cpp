// SPDX-License-Identifier: BSD-3-Clause
#include "values/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "values/hex.h"

namespace tdconf {

std::string sha256_hex(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::logic_error("libcrypto refuses to compute SHA-256");
  return encode_hex(digest);
}

std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace tdconf
