// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/expect_parser.h"

#include <charconv>

#include "engine/case/categories.h"
#include "engine/input/reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

std::int64_t read_count(const Node& node, const char* what) {
  const std::int64_t count = read_integer(node, what);
  if (count < 0) refuse(node, what, "0 and more");
  return count;
}

Returns parse_returned_map(const Node& node) {
  MapReader reader(node, "returns");
  Returns returns;
  if (const Node* td = reader.optional("td")) {
    returns = ReturnsHeld{read_string(*td, "td")};
  } else if (const Node* count = reader.optional("tensordicts")) {
    returns = ReturnsTensorDicts{read_count(*count, "tensordicts")};
  } else {
    returns = ReturnsWorks{read_count(reader.required("works"), "works")};
  }
  reader.finish();
  return returns;
}

Returns parse_returns(const Node& node) {
  constexpr const char* kAllowed =
      "none, self, tensordict, {td: name}, {tensordicts: n}, works, {works: n} or an integer";
  if (node.map() != nullptr) return parse_returned_map(node);
  const json* scalar = node.scalar();
  if (scalar == nullptr) refuse(node, "returns", kAllowed);
  if (scalar->is_number_integer()) return ReturnsInteger{scalar->get<std::int64_t>()};
  if (*scalar == "none") return ReturnsNone{};
  if (*scalar == "self") return ReturnsSelf{};
  if (*scalar == "tensordict") return ReturnsTensorDict{};
  if (*scalar == "works") return ReturnsWorks{};
  refuse(node, "returns", kAllowed);
}

std::vector<std::string> parse_raises(const Node& node) {
  if (node.list() == nullptr) return {read_one_of(node, "raises", raised_categories())};
  std::vector<std::string> raises;
  for (const Node& category : *node.list()) {
    raises.push_back(read_one_of(category, "raises", raised_categories()));
  }
  if (raises.empty()) refuse(node, "raises", "at least one category");
  return raises;
}

std::map<std::string, json> parse_by_key(const Node& node, const std::string& what) {
  std::map<std::string, json> by_key;
  for (const NodePair& pair : read_map(node, what)) {
    by_key[read_string(pair.key, what)] = to_json(pair.value);
  }
  if (by_key.empty()) refuse(node, what, "at least one key");
  return by_key;
}

std::map<std::string, json> parse_sums(const Node& node) {
  std::map<std::string, json> sums = parse_by_key(node, "sum");
  for (const auto& [key, sum] : sums) {
    if (!sum.is_number()) refuse(node, "sum", "numbers");
  }
  return sums;
}

std::map<std::string, bool> parse_requires_grad(const Node& node) {
  std::map<std::string, bool> by_key;
  for (const NodePair& pair : read_map(node, "requires_grad")) {
    by_key[read_string(pair.key, "requires_grad")] = read_bool(pair.value, "requires_grad");
  }
  if (by_key.empty()) refuse(node, "requires_grad", "at least one key");
  return by_key;
}

std::vector<std::vector<std::optional<std::int64_t>>> parse_headers(const Node& node) {
  std::vector<std::vector<std::optional<std::int64_t>>> headers;
  for (const Node& row_node : read_list(node, "headers")) {
    auto& row = headers.emplace_back();
    for (const Node& element : read_list(row_node, "headers")) {
      const bool is_any = element.scalar() != nullptr && *element.scalar() == "any";
      row.push_back(is_any ? std::nullopt
                           : std::optional(read_integer(element, "headers (or `any`)")));
    }
  }
  return headers;
}

std::map<std::int64_t, TreePtr> parse_storages(const Node& node, const Evaluate& evaluate) {
  std::map<std::int64_t, TreePtr> storages;
  for (const NodePair& pair : read_map(node, "storages")) {
    storages[read_integer(pair.key, "the group rank in storages")] = evaluate(pair.value);
  }
  if (storages.empty()) refuse(node, "storages", "at least one group rank");
  return storages;
}

/// `true` is the only thing that these keys can say.
bool parse_true(const Node& node, const char* what) {
  if (!read_bool(node, what)) refuse(node, what, "true, or leave the key out");
  return true;
}

class ExpectParser {
 public:
  ExpectParser(const Node& node, const Operation& operation)
      : operation_(operation), reader_(node, concat("expect of ", operation.name)) {}

  Expect parse(const Known& known, const Evaluate& evaluate) {
    Expect expect;
    // `blocks` is read once the steps of all ranks are known.
    reader_.optional("blocks");
    if (const Node* node = reader_.optional("raises")) {
      expect.raises = parse_raises(*node);
      reader_.finish();
      return expect;
    }
    if (operation_.answers == Answers::kWhatTheImplementationReturns) {
      if (const Node* node = reader_.optional("returns")) expect.returns = parse_returns(*node);
    } else if (operation_.answers == Answers::kSnapshot) {
      parse_of_snapshot(expect, known, evaluate);
    } else if (operation_.answers == Answers::kBuffers) {
      if (const Node* node = reader_.optional("headers")) expect.headers = parse_headers(*node);
      if (const Node* node = reader_.optional("storages")) {
        expect.storages = parse_storages(*node, evaluate);
      }
    }
    reader_.finish();
    return expect;
  }

 private:
  void parse_of_snapshot(Expect& expect, const Known& known, const Evaluate& evaluate) {
    if (const Node* node = reader_.optional("equals")) expect.equals = evaluate(*node);
    if (const Node* node = reader_.optional("in_place")) {
      if (!known.has_memory) {
        refuse(*node, reader_.what(), "`in_place` only of a value made or shown earlier");
      }
      expect.in_place = parse_true(*node, "in_place");
    }
    if (const Node* node = need_made("unchanged", known.made)) {
      expect.unchanged = parse_true(*node, "unchanged");
    }
    if (const Node* node = reader_.optional("keys")) expect.keys = read_strings(*node, "keys");
    if (const Node* node = reader_.optional("sum")) expect.sum = parse_sums(*node);
    if (const Node* node = reader_.optional("values"))
      expect.values = parse_by_key(*node, "values");
    if (const Node* node = reader_.optional("names")) expect.names = to_json(*node);
    if (const Node* node = reader_.optional("device")) expect.device = to_json(*node);
    if (const Node* node = reader_.optional("batch_size")) {
      expect.batch_size = read_integers(*node, "batch_size");
    }
    if (const Node* node = reader_.optional("locked")) {
      expect.locked = read_bool(*node, "locked");
    }
    if (const Node* node = reader_.optional("requires_grad")) {
      expect.requires_grad = parse_requires_grad(*node);
    }
    if (const Node* node = reader_.optional("is_consolidated")) {
      expect.is_consolidated = read_bool(*node, "is_consolidated");
    }
    if (const Node* node = need_made("storage_holds", known.made)) {
      expect.storage_holds = ExpectedStorage{known.made, evaluate(*node)};
    }
  }

  /// These keys compare with what this rank made under the same name.
  const Node* need_made(const char* key, const TreePtr& made) {
    const Node* node = reader_.optional(key);
    if (node != nullptr && made == nullptr) {
      refuse(
          *node,
          reader_.what(),
          concat("`", key, "` only of a value that a `make` or `consolidate` of this rank made"));
    }
    return node;
  }

  const Operation& operation_;
  MapReader reader_;
};

}  // namespace

Expect parse_expect(const Node& node,
                    const Operation& operation,
                    const Known& known,
                    const Evaluate& evaluate) {
  return ExpectParser(node, operation).parse(known, evaluate);
}

}  // namespace tdconf
