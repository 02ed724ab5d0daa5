// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/snapshot.h"

#include <algorithm>
#include <stdexcept>

#include "engine/input/json_reader.h"
#include "values/hex.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

SeenBytes read_bytes(JsonReader& reader, const std::string& where) {
  SeenBytes seen;
  if (const auto hex = reader.optional_string("bytes")) {
    try {
      seen.bytes = decode_hex(*hex);
    } catch (const std::invalid_argument& error) {
      throw ProtocolError(concat("field `bytes` of ", where, ": ", error.what()));
    }
  }
  seen.sha256 = reader.optional_string("sha256");
  if (seen.bytes && seen.sha256) {
    throw ProtocolError(concat(where, " has both `bytes` and `sha256`"));
  }
  return seen;
}

/// The size of the elements in bytes, but for that of a ragged dimension.
std::int64_t known_size(const SeenTensor& tensor) {
  Shape shape = tensor.shape;
  if (tensor.rows) {
    shape.erase(shape.begin() + tensor.rows->ragged_idx);
    shape.erase(shape.begin());
  }
  return count_elements(shape) * static_cast<std::int64_t>(dtype_named(tensor.dtype).size_bytes);
}

/// A row lies between its offset and the next one.
void check_rows(const SeenTensor& tensor) {
  const SeenRows& rows = *tensor.rows;
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  if (rows.ragged_idx < 1 || rows.ragged_idx >= rank || tensor.shape[0] < 0 ||
      tensor.shape[static_cast<std::size_t>(rows.ragged_idx)] != -1) {
    throw ProtocolError(concat("a jagged tensor has no ragged dimension ", rows.ragged_idx));
  }
  const auto count = static_cast<std::size_t>(tensor.shape[0]);
  bool lie_in_order = rows.offsets.size() == count + 1 && rows.offsets[0] >= 0 &&
                      std::ranges::is_sorted(rows.offsets) &&
                      (!rows.lengths || rows.lengths->size() == count);
  for (std::size_t row = 0; lie_in_order && rows.lengths && row < count; ++row) {
    const std::int64_t length = (*rows.lengths)[row];
    lie_in_order = 0 <= length && length <= rows.offsets[row + 1] - rows.offsets[row];
  }
  if (!lie_in_order) throw ProtocolError("the rows of a jagged tensor do not lie in order");
}

void check_size(const SeenTensor& tensor) {
  if (!tensor.elements.bytes) return;
  const auto got = static_cast<std::int64_t>(tensor.elements.bytes->size());
  const std::int64_t known = known_size(tensor);
  if (!tensor.rows) {
    if (got == known) return;
    throw ProtocolError(concat("a tensor of ", known, " bytes is reported with ", got));
  }
  const std::int64_t last = tensor.rows->offsets.back();
  if (known == 0 ? got == 0 : got % known == 0 && got / known >= last) return;
  throw ProtocolError(concat("a jagged tensor of ",
                             last,
                             " values of ",
                             known,
                             " bytes is reported with ",
                             got,
                             " bytes"));
}

void read_rows(JsonReader& reader, SeenTensor& tensor) {
  const json* rows = reader.optional("rows");
  if ((rows != nullptr) != (tensor.layout == "jagged")) {
    throw ProtocolError(concat("a tensor of layout `",
                               tensor.layout,
                               rows == nullptr ? "` has no `rows`" : "` has `rows`"));
  }
  if (rows == nullptr) return;
  JsonReader fields(*rows, "the rows of a jagged tensor");
  tensor.rows = {fields.integers("offsets"), std::nullopt, fields.integer("ragged_idx")};
  if (!fields.any("lengths").is_null()) tensor.rows->lengths = fields.integers("lengths");
  fields.finish();
  check_rows(tensor);
}

SeenTree decode_tree(const json& value, bool is_root, std::optional<SeenStorage>* consolidated);

void read_consolidated(JsonReader& reader, std::optional<SeenStorage>* consolidated) {
  const json& value = reader.any("consolidated");
  if (value.is_null()) return;
  JsonReader storage(value, "a consolidated storage");
  SeenStorage seen{storage.string("token"), storage.integer("nbytes"), {}};
  seen.bytes = read_bytes(storage, "a consolidated storage");
  storage.finish();
  *consolidated = std::move(seen);
}

SeenStack decode_stack(JsonReader& reader) {
  SeenStack stack{reader.integer("stack_dim"), reader.boolean("locked"), {}};
  for (const json& member : reader.array("members")) {
    stack.members.push_back(decode_tree(member, false, nullptr));
  }
  return stack;
}

SeenDict decode_dict(JsonReader& reader, const std::string& kind, const std::string& class_name) {
  SeenDict dict{kind, "", reader.integers("batch_size"), nullptr, nullptr, false, {}};
  if (kind == "tensorclass") dict.class_name = class_name;
  if (kind != "persistent") {
    dict.names = reader.any("names");
    dict.device = reader.any("device");
  }
  dict.locked = reader.boolean("locked");
  for (const json& entry : reader.array("entries")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) {
      throw ProtocolError("an entry of a snapshot is not [key, tree]");
    }
    dict.entries.push_back({entry[0].get<std::string>(), decode_tree(entry[1], false, nullptr)});
  }
  return dict;
}

SeenTree decode_tree(const json& value, bool is_root, std::optional<SeenStorage>* consolidated) {
  JsonReader reader(value, "a snapshot");
  const std::string kind = reader.string("kind");
  if (kind == "tensor") return {decode_tensor(value)};
  SeenTree tree;
  if (kind == "non_tensor") {
    tree.node = NonTensor{reader.any("data"), reader.integers("batch_size")};
  } else if (kind == "lazy_stack" || kind == "tensordict" || kind == "tensorclass" ||
             kind == "persistent") {
    const std::string class_name = reader.string("class");
    if (kind == "lazy_stack") {
      tree.node = decode_stack(reader);
    } else {
      tree.node = decode_dict(reader, kind, class_name);
    }
  } else {
    throw ProtocolError(concat("a snapshot has the unknown kind `", kind, "`"));
  }
  if (is_root) read_consolidated(reader, consolidated);
  reader.finish();
  return tree;
}

void visit_nodes(const SeenTree& tree,
                 Path& path,
                 const std::function<void(const Path&, const SeenTree&)>& visit) {
  const auto descend = [&](const std::string& component, const SeenTree& child) {
    path.push_back(component);
    visit_nodes(child, path, visit);
    path.pop_back();
  };
  visit(path, tree);
  if (const SeenStack* stack = tree.lazy_stack()) {
    for (std::size_t i = 0; i < stack->members.size(); ++i) {
      descend(std::to_string(i), stack->members[i]);
    }
  } else if (const SeenDict* dict = tree.dict()) {
    for (const SeenEntry& entry : dict->entries) descend(entry.key, entry.value);
  }
}

}  // namespace

bool SeenBytes::equal(const Bytes& expected) const {
  if (bytes) return *bytes == expected;
  return sha256 && *sha256 == sha256_hex(expected);
}

SeenTensor decode_tensor(const json& value) {
  JsonReader reader(value, "a tensor");
  if (reader.string("kind") != "tensor") throw ProtocolError("a tensor has another kind");
  SeenTensor tensor;
  tensor.dtype = reader.string("dtype");
  tensor.shape = reader.integers("shape");
  tensor.requires_grad = reader.boolean("requires_grad");
  tensor.class_name = reader.string("class");
  tensor.device = reader.string("device");
  tensor.layout = reader.string("layout");
  tensor.token = reader.string("token");
  tensor.elements = read_bytes(reader, "a tensor");
  read_rows(reader, tensor);
  reader.finish();
  try {
    check_size(tensor);
  } catch (const std::invalid_argument& error) {
    throw ProtocolError(concat("a tensor: ", error.what()));
  }
  return tensor;
}

Snapshot decode_snapshot(const json& value) {
  Snapshot snapshot;
  snapshot.root = decode_tree(value, true, &snapshot.consolidated);
  return snapshot;
}

std::optional<bool> SeenTree::locked() const {
  if (const SeenDict* seen = dict()) return seen->locked;
  if (const SeenStack* seen = lazy_stack()) return seen->locked;
  return std::nullopt;
}

void for_each_node(const SeenTree& tree,
                   const std::function<void(const Path&, const SeenTree&)>& visit) {
  Path path;
  visit_nodes(tree, path, visit);
}

void for_each_tensor(const SeenTree& tree,
                     const std::function<void(const Path&, const SeenTensor&)>& visit) {
  for_each_node(tree, [&](const Path& path, const SeenTree& node) {
    if (const SeenTensor* tensor = node.tensor()) visit(path, *tensor);
  });
}

const SeenTensor* find_tensor(const SeenTree& tree, const std::string& key) {
  const SeenTensor* found = nullptr;
  for_each_tensor(tree, [&](const Path& path, const SeenTensor& tensor) {
    if (dotted(path) == key) found = &tensor;
  });
  return found;
}

}  // namespace tdconf
