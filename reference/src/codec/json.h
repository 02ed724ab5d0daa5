// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <string>
#include <string_view>

namespace tdref {

enum class JsonForm {
  /// What every reader of JSON takes, without spaces.
  kStrict,
  /// What Python's json writes and reads: a space behind each comma and colon, numbers as repr()
  /// has them, NaN, Infinity and -Infinity. A class is written as str() has it.
  kPython,
};

/// Writes a literal as JSON, in ASCII; a tuple becomes a list.
///
/// Errors  c10::TypeError: bytes, a key that is not a str or, strictly, a class. c10::ValueError:
///         it nests deeper than kMaxDepth, text that is not UTF-8 or, strictly, a number that is
///         not finite.
std::string to_json(const Value& value, JsonForm form = JsonForm::kStrict);

/// Reads JSON that comes from another process. Objects become dicts, in their order.
///
/// Errors  c10::ValueError: it is no JSON, nests deeper than kMaxDepth, names a key twice or has an
///         integer of more than 64 bits.
Value from_json(std::string_view text, JsonForm form = JsonForm::kStrict);

}  // namespace tdref
