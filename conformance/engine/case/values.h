// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/case/value_parser.h"
#include "engine/input/node.h"
#include "engine/value/tree.h"

namespace tdconf {

/// The values of one case, as each rank makes them.
class ValueTable {
 public:
  /// `values` is the mapping of the case, or null when it has none.
  ValueTable(const Node* values, int world);

  /// Returns the value as `rank` makes it.
  ///
  /// Errors  InputError: no such value, an invalid value, one that is its own poison, or one with a class
  ///         that another value has with other fields.
  TreePtr value(const std::string& name, int rank, const Location& asked_at);

  /// Evaluates an EXPR for `rank`; `others` are the ranks that `@others` means.
  ///
  /// Errors  InputError.
  TreePtr evaluate(const Node& expr, int rank, const std::vector<int>& others);

  bool holds(const std::string& name) const { return nodes_.contains(name); }

 private:
  std::vector<TreePtr> rows(const Node& node, int rank, const std::vector<int>& others);
  Tree build(const std::string& name, const Node& node, int rank);
  int read_rank(const Node& node, const std::string& text) const;

  std::map<std::string, const Node*> nodes_;
  int world_;
  std::map<std::pair<std::string, int>, TreePtr> built_;
  std::set<std::pair<std::string, int>> in_progress_;
  FieldsByClass classes_;
};

}  // namespace tdconf
