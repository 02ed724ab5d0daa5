// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/node.h"

namespace tdconf {

/// Reads a mapping key by key; what was never asked for is refused by finish().
class MapReader {
 public:
  /// `what` names the mapping in errors.
  ///
  /// Errors  InputError: the node is no mapping.
  MapReader(const Node& node, std::string what);

  /// Errors  InputError: the key is missing.
  const Node& required(std::string_view key);
  const Node* optional(std::string_view key);

  /// Errors  InputError: a key that was not asked for, with those that were.
  void finish() const;

  const std::string& what() const { return what_; }

 private:
  const Node* find(std::string_view key) const;

  const Node& node_;
  std::string what_;
  std::vector<std::string> asked_;
};

/// The readers below return what a node holds. `what` names the place in errors.
///
/// Errors  InputError: the node holds something else.
std::string read_string(const Node& node, std::string_view what);
std::int64_t read_integer(const Node& node, std::string_view what);
bool read_bool(const Node& node, std::string_view what);
const Node::List& read_list(const Node& node, std::string_view what);
const Node::Map& read_map(const Node& node, std::string_view what);
std::vector<std::string> read_strings(const Node& node, std::string_view what);
std::vector<std::int64_t> read_integers(const Node& node, std::string_view what);

/// Returns the string when it is one of `allowed`.
std::string read_one_of(const Node& node,
                        std::string_view what,
                        const std::vector<std::string>& allowed);

}  // namespace tdconf
