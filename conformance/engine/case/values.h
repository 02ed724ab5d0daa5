// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/case/case.h"
#include "engine/case/value_parser.h"
#include "engine/input/node.h"
#include "engine/value/tree.h"

namespace tdconf {

/// The values of one case, as each rank makes them.
class ValueTable {
 public:
  /// `values` is the mapping of the case, or null when it has none; `groups` are those of the case.
  ValueTable(const Node* values, int world, const std::vector<Group>& groups);

  /// Returns the value as `rank` makes it.
  ///
  /// Errors  InputError: no such value, an invalid value, one that is its own poison, or one with a class
  ///         that another value has with other fields.
  TreePtr value(const std::string& name, int rank, const Location& asked_at);

  /// Evaluates an EXPR for `rank`; `members` are the ranks of the group that it is about, in the
  /// order of their ranks in the group.
  ///
  /// Errors  InputError.
  TreePtr evaluate(const Node& expr, int rank, const std::vector<int>& members);

  bool holds(const std::string& name) const { return nodes_.contains(name); }

 private:
  std::vector<TreePtr> rows(const Node& node, int rank, const std::vector<int>& members);
  TreePtr evaluate_name(const Node& expr, int rank);
  Tree evaluate_stack(const Node& expr, int rank, const std::vector<int>& members);
  Tree evaluate_reduction(const Node& expr, int rank, const std::vector<int>& members);
  Tree build(const std::string& name, const Node& node, int rank);
  int read_rank(const Node& node, const std::string& text) const;

  std::map<std::string, const Node*> nodes_;
  int world_;
  const std::vector<Group>& groups_;
  std::map<std::pair<std::string, int>, TreePtr> built_;
  std::set<std::pair<std::string, int>> in_progress_;
  FieldsByClass classes_;
};

}  // namespace tdconf
