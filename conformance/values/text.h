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

}  // namespace tdconf
