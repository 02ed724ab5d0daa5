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

/// Writes groups as the protocol and `--describe` have them.
nlohmann::json to_json(const std::vector<Group>& groups);

/// What a step must return.
struct ReturnsNone {};
struct ReturnsSelf {};
/// A tensordict that this rank did not hold before, kept under the step's `as`.
struct ReturnsTensorDict {};
/// The very tensordict that this rank holds under a name.
struct ReturnsHeld {
  std::string name;
};
/// A list of tensordicts that this rank did not hold before, the n-th kept under `AS.n`.
struct ReturnsTensorDicts {
  std::int64_t count = 0;
};
struct ReturnsInteger {
  std::int64_t value = 0;
};
struct ReturnsWorks {
  std::optional<std::int64_t> count;
};
using Returns = std::variant<ReturnsNone,
                             ReturnsSelf,
                             ReturnsTensorDict,
                             ReturnsTensorDicts,
                             ReturnsHeld,
                             ReturnsInteger,
                             ReturnsWorks>;

/// A consolidated storage laid out as one value and filled with another.
struct ExpectedStorage {
  TreePtr layout_of;
  TreePtr contents;
};

/// A step of a case: `index` counts from 0, people count from 1.
struct StepId {
  int rank = 0;
  int index = 0;
  auto operator<=>(const StepId&) const = default;
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
  /// Of the root and of every tensordict in it.
  std::optional<bool> locked;
  std::map<std::string, bool> requires_grad;
  std::optional<bool> is_consolidated;
  std::optional<ExpectedStorage> storage_holds;
  /// One row for each group rank; nothing for an element that is not fixed.
  std::optional<std::vector<std::vector<std::optional<std::int64_t>>>> headers;
  std::map<std::int64_t, TreePtr> storages;
  /// The step of another rank before whose release this one is not answered.
  std::optional<StepId> blocks;
};

/// What must arrive in a bare tensor: a leaf, or a storage whose padding does not count.
using BareExpectation = std::variant<std::monostate, TensorLeaf, ExpectedStorage>;

struct Step {
  std::string op;
  /// As the protocol sends them.
  nlohmann::json args = nlohmann::json::object();
  /// The name under which the adapter keeps what the step returns; empty for none.
  std::string as;
  std::string label;
  std::vector<StepId> after;
  Expect expect;
  /// `expect` as the document has it, or null.
  nlohmann::json expect_document;
  BareExpectation receives;
  /// The key of the leaf that `receives` holds, written with dots.
  std::string receives_key;
  /// The step of this rank whose snapshot first showed the value which this step looks at, and that
  /// value, if the rank made it itself.
  std::optional<int> made_by;
  TreePtr made;
  Location where;
};

/// One message that travels point to point.
struct Message {
  int from = 0;
  int to = 0;
  std::string group;
  std::int64_t tag = 0;
  const DType* dtype = nullptr;
  /// Nothing when each implementation may send as many as it likes.
  std::optional<std::int64_t> bytes;
  /// Of the elements; nothing when the case does not fix them.
  std::optional<std::string> sha256;
  /// What it carries: a key written with dots, `the storage`, or empty.
  std::string key;
  /// Consecutive messages from one value are one transfer, which has this number.
  int transfer = 0;
};

/// A collective call of a rank. What is left out is not looked at.
struct ExpectedCall {
  std::string name = {};
  /// Of this rank's own tensor.
  const DType* dtype = nullptr;
  std::optional<std::int64_t> bytes = {};
  /// A global rank.
  std::optional<int> root = {};
  std::optional<std::string> group = {};
};

/// What a rank does at the boundary of c10d, and how often. What is left out is not looked at.
struct ExpectedTranscript {
  /// The collective calls in order.
  std::optional<std::vector<ExpectedCall>> calls;
  std::optional<std::int64_t> pickles;
  std::optional<std::int64_t> consolidations;
};

/// A case with every axis chosen and every value known.
struct Case {
  std::string name;
  std::string id;
  std::map<std::string, std::string> axes;
  std::vector<std::string> clauses;
  Level level = Level::kMust;
  std::string says;
  /// A fault that the case finds, as a noun phrase.
  std::optional<std::string> broken_by;
  std::optional<std::string> notes;
  int world = 0;
  std::vector<Group> groups;
  std::map<int, std::string> roles;
  /// The steps of each rank.
  std::vector<std::vector<Step>> programs;
  /// All that travels point to point.
  std::optional<std::vector<Message>> messages;
  /// By rank.
  std::map<int, ExpectedTranscript> transcripts;
  std::chrono::milliseconds deadline{0};
  /// Why the deadline is not the usual one.
  std::optional<std::string> slow;
  Location where;
  /// The document after substitution, which the digest of the manifest covers.
  nlohmann::json canonical;
};

/// Writes `rank R step S (OP)`.
std::string describe_step(const Case& c, StepId id);

/// Lists the capabilities that the player of `rank` needs, as `hello` names them.
std::vector<std::string> needed_capabilities(const Case& c, int rank);

}  // namespace tdconf
