// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/input/node.h"
#include "engine/value/tree.h"

namespace tdconf {

enum class Level { kMust, kSound, kCompat, kObserve };

std::string to_string(Level level);

struct Group {
  std::string name;
  std::string kind;
  std::string backend;
  /// Global ranks, in ascending order.
  std::vector<int> ranks;
};

/// What a step must return.
struct ReturnsNone {};
struct ReturnsSelf {};
struct ReturnsInteger {
  std::int64_t value = 0;
};
struct ReturnsWorks {
  std::optional<std::int64_t> count;
};
using Returns = std::variant<ReturnsNone, ReturnsSelf, ReturnsInteger, ReturnsWorks>;

/// A consolidated storage laid out as one value and filled with another.
struct ExpectedStorage {
  TreePtr layout_of;
  TreePtr contents;
};

/// What must be seen of one step. A step without any of it must return, no more.
struct Expect {
  std::optional<Returns> returns;
  std::vector<std::string> raises;
  TreePtr equals;
  bool in_place = false;
  bool unchanged = false;
  std::optional<std::vector<std::string>> keys;
  std::map<std::string, nlohmann::json> sum;
  std::map<std::string, nlohmann::json> values;
  std::optional<nlohmann::json> names;
  std::optional<nlohmann::json> device;
  std::optional<Shape> batch_size;
  std::map<std::string, bool> requires_grad;
  std::optional<bool> is_consolidated;
  std::optional<ExpectedStorage> storage_holds;
  /// One row for each group rank; nothing for an element that is not fixed.
  std::optional<std::vector<std::vector<std::optional<std::int64_t>>>> headers;
  std::map<std::int64_t, TreePtr> storages;
};

/// A step of a case: `index` counts from 0, people count from 1.
struct StepId {
  int rank = 0;
  int index = 0;
  auto operator<=>(const StepId&) const = default;
};

/// What must arrive in a bare tensor: a leaf, or a storage whose padding does not count.
using BareExpectation = std::variant<std::monostate, TensorLeaf, ExpectedStorage>;

struct Step {
  std::string op;
  /// As the protocol sends them.
  nlohmann::json args = nlohmann::json::object();
  /// The name under which the adapter keeps what the step returns; empty for none.
  std::string as;
  std::vector<StepId> after;
  Expect expect;
  BareExpectation receives;
  /// The key of the leaf that `receives` holds, written with dots.
  std::string receives_key;
  /// The step of this rank that made the value which this step looks at, and that value.
  std::optional<int> made_by;
  TreePtr made;
  Location where;
};

/// A case with every axis chosen and every value known.
struct Case {
  std::string name;
  std::string id;
  std::map<std::string, std::string> axes;
  std::vector<std::string> clauses;
  Level level = Level::kMust;
  std::string says;
  int world = 0;
  std::vector<Group> groups;
  std::map<int, std::string> roles;
  /// The steps of each rank.
  std::vector<std::vector<Step>> programs;
  std::chrono::milliseconds deadline{0};
  Location where;
  /// The document after substitution, which the digest of the manifest covers.
  nlohmann::json canonical;
};

/// Writes `rank R step S (OP)`.
std::string describe_step(const Case& c, StepId id);

/// Lists the capabilities that the player of `rank` needs, as `hello` names them.
std::vector<std::string> needed_capabilities(const Case& c, int rank);

}  // namespace tdconf
