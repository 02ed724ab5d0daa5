// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/case/case.h"

namespace tdconf {

/// The part `index` (from 0) of `count` parts.
struct Part {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
};

/// Which cases to run. What is left empty does not choose.
struct Selection {
  /// Patterns, or `@FILE` with one pattern a line.
  std::vector<std::string> run{};
  std::vector<std::string> skip{};
  /// Patterns over clause ids, whose components end at `.`.
  std::vector<std::string> clauses{};
  std::vector<std::string> levels{};
  /// `NAME=VALUE`.
  std::vector<std::string> axes{};
  std::optional<Part> shard{};
};

/// Reads `I/N` with I from 0 to N - 1.
///
/// Errors  InputError.
Part parse_part(const std::string& text, const std::string& option);

/// Returns the selected cases in their order.
///
/// Errors  InputError: a choice that matches no case at all, or nothing that all choices match.
std::vector<Case> select(std::vector<Case> cases, const Selection& selection);

/// Returns every `count`-th case from `index`.
std::vector<Case> deal(std::vector<Case> cases, const Part& job);

}  // namespace tdconf
