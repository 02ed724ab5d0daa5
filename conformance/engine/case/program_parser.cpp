// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/program_parser.h"

#include <algorithm>
#include <regex>
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
#include "engine/value/reduce.h"
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

TensorLeaf storage_tensor(const Tree& tree) {
  Bytes bytes = storage_bytes(tree, tree);
  const auto size = static_cast<std::int64_t>(bytes.size());
  return {&dtype_named("uint8"), {size}, {{fill_with(std::move(bytes)), size}}, "plain"};
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
    if (step.op == "open_pipe") check_pipe(node, *arguments, step);
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
    const Returns& returns = *step.expect.returns;
    const auto* held = std::get_if<ReturnsHeld>(&returns);
    if (held != nullptr && !held_.contains(held->name)) {
      refuse(node, "returns", concat("a value that rank ", rank_, " made or kept earlier"));
    }
    if (const auto* several = std::get_if<ReturnsTensorDicts>(&returns)) {
      if (step.as.empty()) refuse(node, "returns: tensordicts", "`as` beside it");
      for (std::int64_t n = 0; n < several->count; ++n) check_is_new(node, concat(step.as, ".", n));
    } else if (std::holds_alternative<ReturnsTensorDict>(returns)) {
      if (step.as.empty()) refuse(node, "returns: tensordict", "`as` beside it");
      check_is_new(node, step.as);
    } else if (held != nullptr || std::holds_alternative<ReturnsSelf>(returns)) {
      // Another tensordict would be reported under the very name that is expected.
      check_is_new(node, step.as);
    }
  }

  void check_is_new(const Node& node, const std::string& name) const {
    if (!held_.contains(name)) return;
    refuse(node.where,
           "as",
           concat("`", name, "` again"),
           "a name that the rank does not hold yet, since only a new name tells a new tensordict "
           "from one that the rank held");
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
      case ArgumentType::kReduceOp:
        return read_one_of(node, argument.name, reduce_op_names());
      case ArgumentType::kDevice:
        return parse_device(node);
      case ArgumentType::kIndex:
        return parse_index(node);
      case ArgumentType::kTensorDicts:
        return parse_names(node, argument);
      case ArgumentType::kTensorDict:
        return parse_tensordict(node, argument, step);
    }
    return nullptr;
  }

  std::map<std::string, Held>::iterator find_held(const Node& node, const Argument& argument) {
    const auto held = held_.find(read_string(node, argument.name));
    if (held == held_.end()) {
      refuse(node, argument.name, concat("a value that rank ", rank_, " made or kept earlier"));
    }
    return held;
  }

  json parse_tensordict(const Node& node, const Argument& argument, Step& step) {
    auto& [name, held] = *find_held(node, argument);
    // What lies under an index is another value than the one that the step names.
    if (step.op == "getitem") return name;
    if (step.op == "snapshot" && !held.made_by) held.made_by = static_cast<int>(steps_.size());
    step.made = held.made;
    step.made_by = held.made_by;
    return name;
  }

  json parse_names(const Node& node, const Argument& argument) {
    json names = json::array();
    for (const Node& element : read_list(node, argument.name)) {
      names.push_back(find_held(element, argument)->first);
    }
    return names;
  }

  static json parse_device(const Node& node) {
    static const std::regex kDevice("(cpu|cuda|meta)(:[0-9]{1,3})?");
    const std::string device = read_string(node, "device");
    if (!std::regex_match(device, kDevice)) {
      refuse(node, "device", "cpu, cuda or meta, each also with an index such as cuda:0");
    }
    return device;
  }

  static json parse_index(const Node& node) {
    constexpr const char* kAllowed = "a list of integers and pairs [start, stop], at least one";
    json index = json::array();
    for (const Node& element : read_list(node, "index")) {
      if (element.list() == nullptr) {
        index.push_back(read_integer(element, "index"));
        continue;
      }
      const std::vector<std::int64_t> range = read_integers(element, "index");
      if (range.size() != 2) refuse(node, "index", kAllowed);
      index.push_back(range);
    }
    if (index.empty()) refuse(node, "index", kAllowed);
    return index;
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

  void check_pipe(const Node& node, const Node& arguments, const Step& step) const {
    const auto peer = step.args["peer"].get<std::int64_t>();
    if (peer < 0 || peer >= world_ || peer == rank_) refuse(arguments, "peer", "another rank");
    if (!pipes_.contains(step.as)) return;
    refuse(node.where,
           "as",
           concat("`", step.as, "` again"),
           "a name of its own for each pipe of a rank, also after close_pipe");
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
    return [this, members = members_of(group_of(step), groups_, world_)](const Node& expr) {
      return values_.evaluate(expr, rank_, members);
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
    } else if (operation.answers == Answers::kSnapshot) {
      held_[step.as] = {index, step.made};
    } else if (operation.makes_one_for_each_member) {
      remember_each(step);
    } else if (gives_tensordict(operation, step)) {
      held_[step.as] = {};
    } else {
      pending_[step.as] = operation.answers == Answers::kWorks
                              ? Pending{step.receives, step.receives_key}
                              : Pending{};
    }
  }

  /// Whether a tensordict, and no works, is kept under `as`: as the case expects it, or else as the
  /// operation has it.
  static bool gives_tensordict(const Operation& operation, const Step& step) {
    if (!step.expect.returns) return operation.gives_tensordict;
    const Returns& returns = *step.expect.returns;
    if (std::holds_alternative<ReturnsWorks>(returns)) return false;
    return operation.gives_tensordict || std::holds_alternative<ReturnsTensorDict>(returns);
  }

  /// As many as the case says that the operation makes, or else as many as it must make.
  void remember_each(const Step& step) {
    std::size_t count = members_of(group_of(step), groups_, world_).size();
    if (step.expect.returns) {
      const auto* several = std::get_if<ReturnsTensorDicts>(&*step.expect.returns);
      if (several != nullptr) count = static_cast<std::size_t>(several->count);
    }
    for (std::size_t n = 0; n < count; ++n) held_[concat(step.as, ".", n)] = {};
  }

  static std::string group_of(const Step& step) { return step.args.value("group", "default"); }

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
