// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sstream>
#include <string>

namespace tdconf {

/// Writes the parts one after another, each as operator<< does.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Writes the elements with `separator` between them.
template <typename Range>
std::string join(const Range& range, const char* separator) {
  std::ostringstream text;
  const char* before = "";
  for (const auto& element : range) {
    text << before << element;
    before = separator;
  }
  return text.str();
}

/// Returns the beginning of a UTF-8 text, at most `size_bytes` long, with whole letters.
inline std::string beginning_of(const std::string& text, std::size_t size_bytes) {
  if (text.size() <= size_bytes) return text;
  // Bytes behind the first of a letter begin with the bits 10.
  while (size_bytes > 0 && (text[size_bytes] & '\xc0') == '\x80') --size_bytes;
  return text.substr(0, size_bytes);
}

}  // namespace tdconf
