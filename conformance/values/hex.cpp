// SPDX-License-Identifier: BSD-3-Clause
#include "values/hex.h"

#include <stdexcept>

#include "values/text.h"

namespace tdconf {
namespace {

std::uint8_t digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
  throw std::invalid_argument(concat("hex: got `", digit, "`, allowed: 0-9, a-f"));
}

}  // namespace

std::string encode_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Bytes decode_hex(std::string_view text) {
  if (text.size() % 2 != 0)
    throw std::invalid_argument(
        concat("hex: got ", text.size(), " digits, allowed: an even number"));
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(
        static_cast<std::uint8_t>(digit_value(text[i]) << 4 | digit_value(text[i + 1])));
  return bytes;
}

}  // namespace tdconf
