// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/program_parser.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "engine/case/expect_parser.h"
#include "engine/case/lookup.h"
#include "engine/case/operation.h"
#include "engine/case/release.h"
#include "engine/case/value_parser.h"
#include "engine/input/reader.h"
#include "engine/value/layout.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

/// What works that a rank holds will have received.
struct Pending {
  BareExpectation receives;
  std::string key;
};

/// A value that a rank holds: which step showed it first, if one has, and what was made, if the rank
/// made it itself.
struct Held {
  std::optional<int> made_by;
  TreePtr made;
};

Fill bytes_as_fill(Bytes bytes) {
  if (bytes.empty()) return {Constant{}};
  return {Bits{std::move(bytes)}};
}

TensorLeaf storage_tensor(const Tree& tree) {
  Bytes bytes = storage_bytes(tree, tree);
  const auto size = static_cast<std::int64_t>(bytes.size());
  return {&dtype_named("uint8"), {size}, {{bytes_as_fill(std::move(bytes)), size}}, "plain"};
}

class ProgramParser {
 public:
  ProgramParser(int rank, int world, const std::vector<Group>& groups, ValueTable& values)
      : rank_(rank), world_(world), groups_(groups), values_(values) {}

  std::vector<Step> parse(const Node& program) {
    for (const Node& node : read_list(program, concat("the program of rank ", rank_))) {
      steps_.push_back(parse_step(node));
    }
    return std::move(steps_);
  }

 private:
  Step parse_step(const Node& node) {
    MapReader reader(node, "a step");
    Step step;
    step.where = node.where;
    const auto [operation, arguments] = find_call(node);
    step.op = operation->name;
    reader.optional(step.op);
    if (const Node* label = reader.optional("label")) step.label = read_string(*label, "label");
    // `after` is read once the steps of all ranks are known.
    reader.optional("after");
    if (const Node* as = reader.optional("as")) step.as = read_string(*as, "as");
    const Node* expect = reader.optional("expect");
    reader.finish();

    parse_arguments(*arguments, *operation, step);
    if (expect != nullptr) {
      step.expect = parse_expect(*expect, *operation, known(step), evaluator(step));
      step.expect_document = to_json(*expect);
    }
    check_as(node, *operation, step);
    check_returns(node, step);
    if (step.op == "open_pipe") check_peer(*arguments, step);
    if (step.args.contains("pipe")) check_stands_alone(*arguments, step);
    remember(*operation, step);
    return step;
  }

  /// What a snapshot of this step can be compared with. The first one of a value that the rank was
  /// given shows where it lies, and nothing more.
  Known known(const Step& step) const {
    const bool was_seen = step.made_by && *step.made_by < static_cast<int>(steps_.size());
    return {.made = step.made, .has_memory = step.made != nullptr || was_seen};
  }

  void check_as(const Node& node, const Operation& operation, const Step& step) const {
    const bool is_kept = operation.answers != Answers::kTensor && operation.name != "make";
    if (!step.as.empty() && !is_kept) refuse(node, "as", "a step whose result can be kept");
    if (step.as.empty() && operation.needs_as) refuse(node, operation.name, "`as` beside it");
  }

  void check_returns(const Node& node, const Step& step) const {
    if (!step.expect.returns) return;
    const auto* held = std::get_if<ReturnsHeld>(&*step.expect.returns);
    if (held != nullptr && !held_.contains(held->name)) {
      refuse(node, "returns", concat("a value that rank ", rank_, " made or kept earlier"));
    }
    if (!std::holds_alternative<ReturnsTensorDict>(*step.expect.returns)) return;
    if (step.as.empty()) refuse(node, "returns: tensordict", "`as` beside it");
    if (held_.contains(step.as)) {
      refuse(node.where,
             "as",
             concat("`", step.as, "` again"),
             "a name that the rank does not hold yet, since a new tensordict is expected");
    }
  }

  std::pair<const Operation*, const Node*> find_call(const Node& node) const {
    std::pair<const Operation*, const Node*> call{nullptr, nullptr};
    for (const NodePair& pair : *node.map()) {
      const json& key = *pair.key.scalar();
      const Operation* operation =
          key.is_string() ? find_operation(key.get<std::string>()) : nullptr;
      if (operation == nullptr) continue;
      if (call.first != nullptr) refuse(pair.key, "a step", "one operation");
      call = {operation, &pair.value};
    }
    if (call.first == nullptr) {
      std::vector<std::string> names;
      for (const Operation& operation : all_operations()) names.push_back(operation.name);
      refuse(node, "a step", concat("one of the operations ", join(names, ", ")));
    }
    return call;
  }

  void parse_arguments(const Node& node, const Operation& operation, Step& step) {
    if (operation.name == "make") return parse_make(node, step);
    if (operation.takes_name_alone && node.map() == nullptr) {
      const Argument& only = operation.arguments.front();
      step.args[only.name] = parse_argument(node, only, step);
    } else {
      MapReader reader(node, operation.name);
      for (const Argument& argument : operation.arguments) {
        const Node* given =
            argument.is_required ? &reader.required(argument.name) : reader.optional(argument.name);
        if (given != nullptr) step.args[argument.name] = parse_argument(*given, argument, step);
      }
      if (operation.tensor != BareTensor::kNone) parse_bare_tensor(reader, operation, step);
      reader.finish();
    }
    if (operation.name == "c10d_result") {
      const Pending& pending = pending_.at(step.args["works"]);
      step.receives = pending.receives;
      step.receives_key = pending.key;
    }
  }

  void parse_make(const Node& node, Step& step) {
    std::string value;
    std::string name;
    if (node.map() != nullptr) {
      MapReader reader(node, "make");
      value = read_string(reader.required("value"), "value");
      name = read_string(reader.required("name"), "name");
      reader.finish();
    } else {
      value = name = read_string(node, "make");
    }
    step.made = values_.value(value, rank_, node.where);
    step.made_by = static_cast<int>(steps_.size());
    step.args = {{"name", name}, {"tree", tree_to_json(*step.made)}};
  }

  json parse_argument(const Node& node, const Argument& argument, Step& step) {
    switch (argument.type) {
      case ArgumentType::kInteger:
        return read_integer(node, argument.name);
      case ArgumentType::kBool:
        return read_bool(node, argument.name);
      case ArgumentType::kGroup:
        return find_group(node, groups_).name;
      case ArgumentType::kWorks:
        return parse_works(node, step);
      case ArgumentType::kPipe:
        return parse_pipe(node);
      case ArgumentType::kTensorDict:
        break;
    }
    const std::string name = read_string(node, argument.name);
    const auto held = held_.find(name);
    if (held == held_.end()) {
      refuse(node, argument.name, concat("a value that rank ", rank_, " made or kept earlier"));
    }
    if (step.op == "snapshot" && !held->second.made_by) {
      held->second.made_by = static_cast<int>(steps_.size());
    }
    step.made = held->second.made;
    step.made_by = held->second.made_by;
    return name;
  }

  json parse_works(const Node& node, const Step& step) const {
    const std::string name = read_string(node, "works");
    const auto works = pending_.find(name);
    const bool has_result =
        works != pending_.end() && !std::holds_alternative<std::monostate>(works->second.receives);
    if (works == pending_.end() || (step.op == "c10d_result" && !has_result)) {
      refuse(node,
             step.op,
             concat("the `as` of an earlier ",
                    step.op == "c10d_result" ? "c10d_irecv" : "operation",
                    " of rank ",
                    rank_,
                    " that returns works"));
    }
    return name;
  }

  json parse_pipe(const Node& node) const {
    const std::string name = read_string(node, "pipe");
    if (!pipes_.contains(name)) {
      refuse(node, "pipe", concat("the `as` of an earlier open_pipe of rank ", rank_));
    }
    return name;
  }

  void check_peer(const Node& node, const Step& step) const {
    const auto peer = step.args["peer"].get<std::int64_t>();
    if (peer < 0 || peer >= world_ || peer == rank_) refuse(node, "peer", "another rank");
  }

  /// A pipe stands where the rank would: there is no way to pass both.
  static void check_stands_alone(const Node& node, const Step& step) {
    if (step.args.contains("dst") || step.args.contains("src")) {
      refuse(node, step.op, "`pipe`, or else `dst` or `src`");
    }
  }

  void parse_bare_tensor(MapReader& reader, const Operation& operation, Step& step) {
    const Node* leaf = reader.optional("leaf");
    const Node* key = reader.optional("key");
    const Node* storage = reader.optional("storage");
    const Node* tensor = reader.optional("tensor");
    const int given = (leaf != nullptr) + (storage != nullptr) + (tensor != nullptr);
    if (given != 1 || (leaf != nullptr) != (key != nullptr)) {
      throw InputError(concat(to_string(step.where),
                              ": in ",
                              operation.name,
                              ": exactly one of `leaf` with `key`, `storage`, `tensor` is needed"));
    }
    TensorLeaf sent;
    BareExpectation expected;
    if (leaf != nullptr) {
      sent = leaf_of(*leaf, *key, step);
      step.receives_key = dotted(parse_key(*key));
      expected = sent;
    } else if (storage != nullptr) {
      const TreePtr tree = evaluator(step)(*storage);
      sent = storage_tensor(*tree);
      expected = ExpectedStorage{tree, tree};
    } else {
      sent = parse_tensor(*tensor, "tensor");
    }
    if (operation.tensor == BareTensor::kReceives && tensor == nullptr) {
      for (TensorPart& part : sent.parts) part.fill.invert = !part.fill.invert;
      step.receives = expected;
    }
    step.args["tensor"] = tensor_to_json(sent);
  }

  TensorLeaf leaf_of(const Node& expr, const Node& key, const Step& step) const {
    // A bare message carries elements, whatever kind of tensor they lie in.
    TensorLeaf leaf = find_leaf(*evaluator(step)(expr), key);
    leaf.form = "plain";
    return leaf;
  }

  Evaluate evaluator(const Step& step) const {
    const std::string group = step.args.value("group", "default");
    return [this, others = others_in_group(group, groups_, world_, rank_)](const Node& expr) {
      return values_.evaluate(expr, rank_, others);
    };
  }

  void remember(const Operation& operation, const Step& step) {
    const int index = static_cast<int>(steps_.size());
    if (operation.name == "make") {
      held_[step.args["name"]] = {index, step.made};
      return;
    }
    if (step.as.empty()) return;
    if (operation.name == "open_pipe") {
      pipes_.insert(step.as);
    } else if (operation.name == "consolidate") {
      held_[step.as] = {index, step.made};
    } else {
      // What an operation returns may turn out to be works or a tensordict.
      pending_[step.as] = operation.answers == Answers::kWorks
                              ? Pending{step.receives, step.receives_key}
                              : Pending{};
      held_[step.as] = {};
    }
  }

  int rank_;
  int world_;
  const std::vector<Group>& groups_;
  ValueTable& values_;
  std::vector<Step> steps_;
  std::map<std::string, Held> held_;
  std::map<std::string, Pending> pending_;
  std::set<std::string> pipes_;
};

}  // namespace

std::vector<std::vector<Step>> parse_programs(const std::vector<Node>& programs,
                                              const std::vector<Group>& groups,
                                              ValueTable& values) {
  const int world = static_cast<int>(programs.size());
  std::vector<std::vector<Step>> parsed;
  for (int rank = 0; rank < world; ++rank) {
    ProgramParser parser(rank, world, groups, values);
    parsed.push_back(parser.parse(programs[static_cast<std::size_t>(rank)]));
  }
  parse_release_order(programs, parsed);
  return parsed;
}

}  // namespace tdconf
