// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tdconf {

/// Splits a command into words as a POSIX shell does, with its quotes and backslashes, and without
/// any of its expansions.
///
/// Errors  InputError: a quote that is not closed, or no word.
std::vector<std::string> split_command(const std::string& text);

/// Joins words into a command that a POSIX shell splits into the same words.
std::string quote_command(const std::vector<std::string>& words);

}  // namespace tdconf
