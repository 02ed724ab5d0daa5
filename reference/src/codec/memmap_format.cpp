// SPDX-License-Identifier: BSD-3-Clause
#include "codec/memmap_format.h"

namespace tdref::memmap_format {
namespace {

constexpr std::string_view kUnsafe = "/<>:\"|?*\\ %\x7f";

void append_encoded(std::string& name, char character) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(character);
  name += '%';
  name += kDigits[byte / 16];
  name += kDigits[byte % 16];
}

bool is_unsafe(char character) {
  return static_cast<unsigned char>(character) < 32 ||
         kUnsafe.find(character) != std::string_view::npos;
}

bool has_a_drive(std::string_view key) {
  const auto letter = key.empty() ? '\0' : static_cast<char>(key[0] | 0x20);
  return key.size() >= 2 && key[1] == ':' && 'a' <= letter && letter <= 'z';
}

}  // namespace

bool is_reserved_key(std::string_view key) {
  return key == "shape" || key == "device" || key == "_type";
}

std::string name_of(std::string_view key) {
  if (key.empty()) {
    return "%";
  }
  const bool is_dots = key == "." || key == "..";
  std::string name;
  for (const char character : key) {
    if (is_dots || is_unsafe(character)) {
      append_encoded(name, character);
    } else {
      name += character;
    }
  }
  return name;
}

bool may_be_a_name(std::string_view key) {
  static constexpr std::string_view kNever("/\\\0", 3);
  return key.find_first_of(kNever) == std::string_view::npos && !has_a_drive(key) && !key.empty() &&
         key != "." && key != "..";
}

}  // namespace tdref::memmap_format
