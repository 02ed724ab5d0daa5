// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <string>
#include <string_view>

namespace tdref {

/// Writes a literal as JSON, in ASCII; a tuple becomes a list.
///
/// Errors  c10::TypeError: bytes, a class, or a key that is not a str. c10::ValueError: a number that
///         is not finite, or text that is not UTF-8.
std::string to_json(const Value& value);

/// Reads JSON that comes from another process. Objects become dicts, in their order.
///
/// Errors  c10::ValueError: it is no JSON, nests deeper than kMaxDepth, names a key twice or has an
///         integer of more than 64 bits.
Value from_json(std::string_view text);

}  // namespace tdref
