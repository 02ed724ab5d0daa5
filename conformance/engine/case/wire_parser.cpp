// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/wire_parser.h"

#include <algorithm>

#include "engine/case/lookup.h"
#include "engine/case/value_parser.h"
#include "engine/input/reader.h"
#include "engine/value/call.h"
#include "engine/value/layout.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

void check_member(const Node& rank, const char* what, int world, const Group& group) {
  const int member = parse_rank(rank, what, world);
  if (std::ranges::find(group.ranks, member) != group.ranks.end()) return;
  refuse(rank, what, concat("the ranks ", join(group.ranks, ", "), " of group `", group.name, "`"));
}

/// Reads a size in bytes; nothing for `any`. `dtype` is that of the elements, if it is known.
std::optional<std::int64_t> parse_bytes(const Node& node, const DType* dtype) {
  if (node.scalar() != nullptr && *node.scalar() == "any") return std::nullopt;
  const std::int64_t given = read_integer(node, "bytes (or `any`)");
  const auto size = dtype == nullptr ? 1 : static_cast<std::int64_t>(dtype->size_bytes);
  if (given < 0 || given % size != 0) {
    refuse(node, "bytes", concat("0 and more, a multiple of ", size));
  }
  return given;
}

class MessageParser {
 public:
  MessageParser(const Node& node, int world, const std::vector<Group>& groups, ValueTable& values)
      : node_(node), reader_(node, "a message"), world_(world), groups_(groups), values_(values) {}

  Message parse() {
    parse_way();
    message_.tag = read_integer(reader_.required("tag"), "tag");
    parse_contents();
    reader_.finish();
    return std::move(message_);
  }

 private:
  void parse_way() {
    const Node& from = reader_.required("from");
    const Node& to = reader_.required("to");
    message_.from = parse_rank(from, "from", world_);
    message_.to = parse_rank(to, "to", world_);
    if (message_.from == message_.to) refuse(to, "to", "another rank than `from`");
    const Node* group = reader_.optional("group");
    const Node implied{node_.where, nlohmann::json("default")};
    const Group& members = find_group(group == nullptr ? implied : *group, groups_);
    message_.group = members.name;
    check_member(from, "from", world_, members);
    check_member(to, "to", world_, members);
  }

  void parse_contents() {
    const Node* leaf = reader_.optional("leaf");
    const Node* key = reader_.optional("key");
    const Node* storage = reader_.optional("storage");
    const Node* dtype = reader_.optional("dtype");
    const Node* bytes = reader_.optional("bytes");
    const int given = (leaf != nullptr) + (storage != nullptr) + (dtype != nullptr);
    const bool are_pairs =
        (leaf != nullptr) == (key != nullptr) && (dtype != nullptr) == (bytes != nullptr);
    if (given != 1 || !are_pairs) {
      throw InputError(concat(to_string(node_.where),
                              ": in a message: exactly one of `leaf` with `key`, `storage`, "
                              "`dtype` with `bytes` is needed"));
    }
    if (leaf != nullptr) return parse_leaf(*leaf, *key);
    if (storage != nullptr) return parse_storage(*storage);
    parse_size(*dtype, *bytes);
  }

  void parse_leaf(const Node& expr, const Node& key) {
    const TreePtr tree = evaluate(expr);
    const TensorLeaf& leaf = find_leaf(*tree, key);
    message_.key = dotted(parse_key(key));
    message_.dtype = leaf.dtype;
    message_.bytes = static_cast<std::int64_t>(leaf.size_bytes());
    message_.sha256 = sha256_hex(leaf.bytes());
  }

  void parse_storage(const Node& expr) {
    const TreePtr tree = evaluate(expr);
    const std::vector<Slot> layout = storage_layout(*tree);
    message_.key = "the storage";
    message_.dtype = &dtype_named("uint8");
    message_.bytes = static_cast<std::int64_t>(storage_size(layout));
    // A digest says nothing of what stands beside padding, which may hold anything.
    const bool has_padding =
        std::ranges::any_of(layout, [](const Slot& slot) { return slot.padding != 0; });
    if (!has_padding) message_.sha256 = sha256_hex(storage_bytes(*tree, *tree));
  }

  void parse_size(const Node& dtype, const Node& bytes) {
    message_.dtype = &parse_dtype(dtype, "a message");
    message_.bytes = parse_bytes(bytes, message_.dtype);
  }

  TreePtr evaluate(const Node& expr) const {
    return values_.evaluate(expr, message_.from, members_of(message_.group, groups_, world_));
  }

  const Node& node_;
  MapReader reader_;
  int world_;
  const std::vector<Group>& groups_;
  ValueTable& values_;
  Message message_;
};

/// Messages of one value on one way are one transfer; the others stand alone.
bool is_same_transfer(const Node& a, const Node& b) {
  nlohmann::json left = to_json(a);
  nlohmann::json right = to_json(b);
  if (!left.contains("leaf") || !right.contains("leaf")) return false;
  for (const char* differs : {"tag", "key"}) {
    left.erase(differs);
    right.erase(differs);
  }
  return left == right;
}

/// Reads what is said of a collective call beside its name.
class CallParser {
 public:
  CallParser(int world, const std::vector<Group>& groups) : world_(world), groups_(groups) {}

  /// A name, or `{name: {dtype: int64, bytes: 8, root: 0, group: default}}`.
  ExpectedCall parse(const Node& node) const {
    // `messages` holds what is sent point to point.
    if (node.map() == nullptr) return {read_one_of(node, "calls", known_collectives())};
    if (node.map()->size() != 1) refuse(node, "calls", "one call in each element");
    const auto& [name, fields] = node.map()->front();
    ExpectedCall call{read_one_of(name, "calls", known_collectives())};
    MapReader reader(fields, concat("`", call.name, "`"));
    if (const Node* dtype = reader.optional("dtype")) {
      call.dtype = &parse_dtype(*dtype, call.name);
    }
    if (const Node* bytes = reader.optional("bytes")) {
      call.bytes = parse_bytes(*bytes, call.dtype);
    }
    const Node* root = reader.optional("root");
    if (root != nullptr) call.root = parse_root(*root, call.name);
    if (const Node* name_of_group = reader.optional("group")) {
      const Group& group = find_group(*name_of_group, groups_);
      call.group = group.name;
      if (root != nullptr) check_member(*root, "root", world_, group);
    }
    reader.finish();
    return call;
  }

 private:
  int parse_root(const Node& node, const std::string& call) const {
    if (!has_root(call)) refuse(node, "root", concat("none, since ", call, " has no root"));
    return parse_rank(node, "root", world_);
  }

  int world_;
  const std::vector<Group>& groups_;
};

std::int64_t parse_count(const Node& node, const char* what) {
  const std::int64_t count = read_integer(node, what);
  if (count < 0) refuse(node, what, "0 and more");
  return count;
}

ExpectedTranscript parse_transcript(const Node& node, const CallParser& call_parser) {
  MapReader reader(node, "transcript");
  ExpectedTranscript expected;
  if (const Node* calls = reader.optional("calls")) {
    expected.calls.emplace();
    for (const Node& call : read_list(*calls, "calls")) {
      expected.calls->push_back(call_parser.parse(call));
    }
  }
  if (const Node* pickles = reader.optional("pickles")) {
    expected.pickles = parse_count(*pickles, "pickles");
  }
  if (const Node* consolidations = reader.optional("consolidations")) {
    expected.consolidations = parse_count(*consolidations, "consolidations");
  }
  reader.finish();
  if (node.map()->empty()) {
    refuse(node, "transcript", "at least one of calls, pickles, consolidations");
  }
  return expected;
}

}  // namespace

std::vector<Message> parse_messages(const Node& node,
                                    int world,
                                    const std::vector<Group>& groups,
                                    ValueTable& values) {
  std::vector<Message> messages;
  const Node* before = nullptr;
  for (const Node& message : read_list(node, "messages")) {
    messages.push_back(MessageParser(message, world, groups, values).parse());
    Message& parsed = messages.back();
    const bool continues = before != nullptr && is_same_transfer(*before, message);
    parsed.transfer = before == nullptr ? 0 : messages[messages.size() - 2].transfer + !continues;
    before = &message;
  }
  return messages;
}

std::map<int, ExpectedTranscript> parse_transcripts(const Node& node,
                                                    int world,
                                                    const std::vector<Group>& groups) {
  const CallParser call_parser(world, groups);
  std::map<int, ExpectedTranscript> transcripts;
  for (const auto& [key, value] : read_map(node, "transcript")) {
    const int rank = parse_rank(key, "transcript", world);
    if (!transcripts.emplace(rank, parse_transcript(value, call_parser)).second) {
      refuse(key, "transcript", "each rank once");
    }
  }
  if (transcripts.empty()) refuse(node, "transcript", "at least one rank");
  return transcripts;
}

}  // namespace tdconf
