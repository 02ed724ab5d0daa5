// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/contents.h"

#include "values/text.h"

namespace tdconf {
namespace {

/// The dtype of the real and the imaginary part of a complex one; others are what they are.
std::string_view real_parts_of(const DType& dtype) {
  if (dtype.name == "complex32") return "float16";
  if (dtype.name == "complex64") return "float32";
  if (dtype.name == "complex128") return "float64";
  return dtype.name;
}

}  // namespace

bool have_same_digest(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  return !a || !b || *a == *b;
}

bool have_same_contents(const Event& a, const Event& b) {
  return a.bytes == b.bytes && have_same_digest(a.sha256, b.sha256);
}

/// A digest differs in its first digits or not at all.
std::string show_digest(const std::optional<std::string>& sha256) {
  constexpr std::size_t kShown = 12;
  return sha256 ? concat(", sha256 ", sha256->substr(0, kShown)) : "";
}

std::string show_contents(const Event& event) {
  return concat(event.bytes, " bytes", show_digest(event.sha256));
}

bool is_reported_as(const DType& dtype, const std::string& reported) {
  return reported == dtype.name || reported == real_parts_of(dtype);
}

std::string show_caller(const Case& c, int rank, const Event& event) {
  return event.step ? describe_step(c, {rank, *event.step}) : concat("rank ", rank);
}

}  // namespace tdconf
