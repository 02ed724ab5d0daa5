// SPDX-License-Identifier: BSD-3-Clause
#include "codec/class_text.h"

namespace tdref {
namespace {

constexpr std::string_view kBegin = "<class '";
constexpr std::string_view kEnd = "'>";

}  // namespace

std::string to_text(const PythonClass& cls) {
  return std::string(kBegin) + cls.module + '.' + cls.name + std::string(kEnd);
}

std::optional<PythonClass> class_named(std::string_view text) {
  const auto stop = text.rfind('.');
  if (stop == std::string_view::npos || stop == 0 || stop + 1 == text.size()) {
    return std::nullopt;
  }
  return PythonClass{std::string(text.substr(0, stop)), std::string(text.substr(stop + 1))};
}

std::optional<PythonClass> class_of_text(std::string_view text) {
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) {
    return std::nullopt;
  }
  text.remove_prefix(kBegin.size());
  return class_named(text.substr(0, text.size() < kEnd.size() ? 0 : text.size() - kEnd.size()));
}

}  // namespace tdref
