// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "common/operation.h"

namespace tdconf::bench {

/// One line of a column's table; `Ranks` is what the column connects.
template <typename Ranks>
struct Entry {
  std::string_view name;
  Members members;
  std::unique_ptr<Operation> (*make)(Ranks& ranks, const Case& c);
};

/// Makes the operation that a case names.
///
/// Errors  as Column::make().
template <typename Ranks, std::size_t N>
std::unique_ptr<Operation> make_from(const std::array<Entry<Ranks>, N>& table,
                                     Ranks& ranks,
                                     const Case& c) {
  std::string names;
  for (const auto& entry : table) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  const auto* entry = std::find_if(
      table.begin(), table.end(), [&](const auto& line) { return line.name == c.operation; });
  TORCH_CHECK_VALUE(
      entry != table.end(), "there is no operation \"", c.operation, "\"; allowed are ", names);
  TORCH_CHECK_VALUE(ranks.world >= 2 && (entry->members == Members::kAll || ranks.world == 2),
                    c.operation,
                    " is between ",
                    entry->members == Members::kAll ? "2 or more ranks" : "2 ranks",
                    "; the world has ",
                    ranks.world);
  return entry->make(ranks, c);
}

}  // namespace tdconf::bench
