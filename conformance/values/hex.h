// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "values/dtype.h"

namespace tdconf {

/// Writes two lower-case digits for each byte.
std::string encode_hex(std::span<const std::uint8_t> bytes);

/// Reads pairs of hex digits of either case.
///
/// Errors  std::invalid_argument: an odd number of digits, or another character.
Bytes decode_hex(std::string_view text);

}  // namespace tdconf
