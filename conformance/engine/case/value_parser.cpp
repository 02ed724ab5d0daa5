// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/value_parser.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "engine/input/reader.h"
#include "values/hex.h"
#include "values/text.h"

namespace tdconf {
namespace {

const std::vector<std::string> kForms{"plain",
                                      "requires_grad",
                                      "sparse_coo",
                                      "jagged",
                                      "meta",
                                      "parameter",
                                      "memmap",
                                      "subclass",
                                      "transposed",
                                      "expanded"};

Shape parse_shape(const Node& node, const std::string& what) {
  Shape shape = read_integers(node, what);
  for (const std::int64_t size : shape) {
    if (size < 0) refuse(node, what, "sizes of 0 and more");
  }
  return shape;
}

std::string parse_form(const Node& node, const Shape& shape) {
  const std::string form = read_one_of(node, "form", kForms);
  if (form == "jagged" && shape.size() < 2) {
    refuse(node, "form", "jagged only with two dimensions or more");
  }
  return form;
}

bool parse_flag(const Node* node, const std::string& what) {
  return node != nullptr && read_bool(*node, what);
}

/// Reads the name of a class or of one of its fields, which is one in each language.
std::string parse_identifier(const Node& node, const std::string& what) {
  const std::string name = read_string(node, what);
  const auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); };
  const auto may_follow = [&](char c) {
    return is_letter(c) || ('0' <= c && c <= '9') || c == '_';
  };
  if (name.empty() || !is_letter(name[0]) || !std::ranges::all_of(name, may_follow)) {
    refuse(node, what, "letters, digits and _, a letter first");
  }
  return name;
}

/// Reads the name of a field, which Python has to take as one.
std::string parse_field(const Node& node) {
  static const std::set<std::string> kKeywords{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  std::string name = parse_identifier(node, "a field");
  if (kKeywords.contains(name)) refuse(node, "a field", "a word that is no keyword of Python");
  return name;
}

Ramp parse_ramp(const Node& node) {
  const std::vector<std::int64_t> numbers = read_integers(node, "ramp");
  if (numbers.size() != 2) refuse(node, "ramp", "[start, step]");
  return {numbers[0], numbers[1]};
}

Constant parse_constant(const Node& node) {
  if (node.scalar() == nullptr || !node.scalar()->is_number()) refuse(node, "const", "a number");
  if (node.scalar()->is_number_integer()) return {node.scalar()->get<std::int64_t>()};
  return {node.scalar()->get<double>()};
}

Bits parse_bits(const Node& node) {
  if (node.scalar() == nullptr || !node.scalar()->is_string()) {
    refuse(node, "bits", "hex digits in quotes");
  }
  try {
    return {decode_hex(read_string(node, "bits"))};
  } catch (const std::invalid_argument& error) {
    throw InputError(concat(to_string(node.where), ": in bits: ", error.what()));
  }
}

Scramble parse_scramble(const Node& node) {
  const std::int64_t seed = read_integer(node, "scramble");
  if (seed < 0) refuse(node, "scramble", "0 and more");
  return {static_cast<std::uint64_t>(seed)};
}

Fill parse_fill(const Node& node) {
  MapReader reader(node, "fill");
  const Node* ramp = reader.optional("ramp");
  const Node* constant = reader.optional("const");
  const Node* bits = reader.optional("bits");
  const Node* scramble = reader.optional("scramble");
  reader.finish();
  if (read_map(node, "fill").size() != 1)
    refuse(node, "fill", "one of ramp, const, bits, scramble");
  if (ramp != nullptr) return {parse_ramp(*ramp)};
  if (constant != nullptr) return {parse_constant(*constant)};
  if (bits != nullptr) return {parse_bits(*bits)};
  return {parse_scramble(*scramble)};
}

class ValueParser {
 public:
  ValueParser(std::string what, std::int64_t seed, FieldsByClass& classes)
      : what_(std::move(what)), seed_(seed), classes_(classes) {}

  Tree parse(const Node& node, const Shape& outer_batch_size, bool is_root) {
    if (node.map() == nullptr)
      refuse(node, what_, "a mapping with entries, dtype, data or members");
    MapReader probe(node, what_);
    if (probe.optional("entries") != nullptr) return parse_dict(node, is_root);
    if (probe.optional("members") != nullptr) return parse_stack(node, is_root);
    if (!is_root && probe.optional("data") != nullptr) return parse_data(node, outer_batch_size);
    if (!is_root && probe.optional("dtype") != nullptr)
      return {parse_leaf(node, FillIs::kOptional)};
    refuse(node,
           what_,
           is_root ? "a tensordict (entries), a lazy stack (members) or poison"
                   : "a tensordict (entries), a lazy stack (members), a tensor (dtype) "
                     "or non-tensor data (data)");
  }

  enum class FillIs { kOptional, kRequired };

  TensorLeaf parse_leaf(const Node& node, FillIs fill_is) {
    MapReader reader(node, concat(what_, ": a tensor"));
    TensorLeaf leaf;
    leaf.dtype = &parse_dtype(reader.required("dtype"), what_);
    leaf.shape = parse_shape(reader.required("shape"), "shape");
    if (const Node* form = reader.optional("form")) leaf.form = parse_form(*form, leaf.shape);
    const Node* fill =
        fill_is == FillIs::kOptional ? reader.optional("fill") : &reader.required("fill");
    reader.finish();
    const std::int64_t numel = count_elements_of(leaf, node);
    leaf.parts = {{fill == nullptr ? automatic_fill(*leaf.dtype) : parse_fill(*fill), numel}};
    ++tensors_;
    try {
      fill_bytes(leaf.parts[0].fill, *leaf.dtype, numel);
    } catch (const std::invalid_argument& error) {
      throw InputError(concat(to_string(node.where), ": in ", what_, ": ", error.what()));
    }
    return leaf;
  }

 private:
  std::int64_t count_elements_of(const TensorLeaf& leaf, const Node& node) const {
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 28;
    try {
      const std::int64_t numel = count_elements(leaf.shape);
      if (numel > kMaxBytes / static_cast<std::int64_t>(leaf.dtype->size_bytes)) {
        refuse(node.where, what_, concat(numel, " elements"), "tensors of at most 2^28 bytes");
      }
      return numel;
    } catch (const std::invalid_argument& error) {
      throw InputError(concat(to_string(node.where), ": in ", what_, ": ", error.what()));
    }
  }

  Fill automatic_fill(const DType& dtype) const {
    if (is_scrambled_by_default(dtype)) {
      return {Scramble{static_cast<std::uint64_t>(1000 * seed_ + tensors_)}};
    }
    return {Ramp{1000 * seed_ + 100 * tensors_ + 1, 1}};
  }

  Tree parse_dict(const Node& node, bool is_root) {
    MapReader reader(node, what_);
    Dict dict;
    if (const Node* kind = reader.optional("kind")) {
      dict.kind = read_one_of(*kind, "kind", {"tensordict", "persistent", "tensorclass"});
    }
    const bool is_tensorclass = dict.kind == "tensorclass";
    if (is_tensorclass) dict.class_name = parse_identifier(reader.required("class"), "class");
    dict.batch_size = parse_shape(reader.required("batch_size"), "batch_size");
    if (is_root) reader.optional("seed");
    if (const Node* names = reader.optional("names")) dict.names = parse_names(*names, dict);
    if (const Node* device = reader.optional("device"); device != nullptr && !device->is_null()) {
      dict.device = read_one_of(*device, "device", {"cpu"});
    }
    dict.consolidated = parse_flag(reader.optional("consolidated"), "consolidated");
    dict.locked = parse_flag(reader.optional("locked"), "locked");
    const Node& entries = reader.required("entries");
    reader.finish();
    if (dict.kind == "persistent" &&
        (!dict.names.is_null() || dict.device || dict.consolidated || dict.locked)) {
      refuse(node, what_, "no names, device, consolidated or locked in a persistent tensordict");
    }
    if (!is_root && dict.consolidated) refuse(node, what_, "`consolidated` only at the root");
    for (const Node& entry : read_list(entries, "entries")) {
      add_entry(entry, dict);
      if (is_tensorclass) parse_field(read_list(entry, "entries")[0]);
    }
    if (is_tensorclass) check_fields(node, dict);
    return {dict};
  }

  void check_fields(const Node& node, const Dict& dict) {
    std::set<std::string> fields;
    for (const Entry& entry : dict.entries) fields.insert(entry.key);
    const std::set<std::string>& known = classes_.emplace(dict.class_name, fields).first->second;
    if (fields == known) return;
    refuse(node.where,
           what_,
           concat("class `", dict.class_name, "` with the fields ", list_of(fields)),
           concat("the fields that the class has elsewhere in the case: ", list_of(known)));
  }

  static std::string list_of(const std::set<std::string>& fields) {
    return concat("[", join(fields, ", "), "]");
  }

  void add_entry(const Node& node, Dict& dict) {
    const Node::List& pair = read_list(node, "entries");
    if (pair.size() != 2) refuse(node, "entries", "pairs [key, value]");
    const std::string key = read_string(pair[0], "the key of an entry");
    for (const Entry& earlier : dict.entries) {
      if (earlier.key == key) refuse(pair[0], "entries", "each key once");
    }
    dict.entries.push_back({key, parse(pair[1], dict.batch_size, false)});
  }

  static nlohmann::json parse_names(const Node& node, const Dict& dict) {
    if (node.is_null()) return nullptr;
    nlohmann::json names = nlohmann::json::array();
    for (const Node& name : read_list(node, "names")) {
      names.push_back(name.is_null() ? nlohmann::json(nullptr)
                                     : nlohmann::json(read_string(name, "names")));
    }
    if (names.size() != dict.batch_size.size()) {
      refuse(node, "names", "one name (or null) for each batch dimension");
    }
    return names;
  }

  Tree parse_stack(const Node& node, bool is_root) {
    MapReader reader(node, what_);
    LazyStack stack;
    stack.stack_dim = read_integer(reader.required("stack_dim"), "stack_dim");
    if (is_root) reader.optional("seed");
    const Node& members = reader.required("members");
    reader.finish();
    for (const Node& member : read_list(members, "members")) {
      stack.members.push_back(parse(member, {}, false));
      if (stack.members.back().tensor() != nullptr) refuse(member, "members", "tensordicts");
    }
    if (stack.members.empty()) refuse(members, "members", "at least one");
    return {stack};
  }

  Tree parse_data(const Node& node, const Shape& outer_batch_size) {
    MapReader reader(node, what_);
    NonTensor data{to_json(reader.required("data")), outer_batch_size};
    reader.finish();
    return {data};
  }

  std::string what_;
  std::int64_t seed_;
  FieldsByClass& classes_;
  std::int64_t tensors_ = 0;
};

std::int64_t seed_of(const Node& root, int rank) {
  const Node* seed = find_key(root, "seed");
  return seed == nullptr ? rank + 1 : read_integer(*seed, "seed");
}

}  // namespace

const DType& parse_dtype(const Node& node, const std::string& what) {
  try {
    return dtype_named(read_string(node, "dtype"));
  } catch (const std::invalid_argument& error) {
    throw InputError(concat(to_string(node.where), ": in ", what, ": ", error.what()));
  }
}

Tree parse_value(const Node& node, const std::string& what, int rank, FieldsByClass& classes) {
  return ValueParser(what, seed_of(node, rank), classes).parse(node, {}, true);
}

TensorLeaf parse_tensor(const Node& node, const std::string& what) {
  FieldsByClass none;
  return ValueParser(what, 0, none).parse_leaf(node, ValueParser::FillIs::kRequired);
}

}  // namespace tdconf
