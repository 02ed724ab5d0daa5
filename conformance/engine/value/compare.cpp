// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/compare.h"

#include <algorithm>

#include "engine/value/element.h"
#include "engine/value/jagged.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

std::string name_of(const Path& path) {
  return path.empty() ? "the root" : dotted(path);
}

class Comparison {
 public:
  std::vector<Difference> differences;

  void compare(const Tree& expected, const SeenTree& seen) {
    if (const TensorLeaf* leaf = expected.tensor()) {
      if (seen.tensor() == nullptr) return report_kind("tensor", seen);
      append(compare_tensor(dotted(path_), *leaf, *seen.tensor()));
    } else if (const std::optional<NonTensor> data = non_tensor_data(expected)) {
      compare_non_tensor(*data, seen);
    } else if (const LazyStack* stack = expected.lazy_stack()) {
      if (seen.lazy_stack() == nullptr) return report_kind("lazy_stack", seen);
      compare_stack(*stack, *seen.lazy_stack());
    } else {
      if (seen.dict() == nullptr || seen.dict()->kind != expected.dict()->kind) {
        return report_kind(expected.dict()->kind, seen);
      }
      compare_dict(*expected.dict(), *seen.dict());
    }
  }

 private:
  void append(std::vector<Difference> more) {
    differences.insert(differences.end(), more.begin(), more.end());
  }

  void report(const std::string& property, const std::string& expected, const std::string& got) {
    differences.push_back(
        differ(dotted(path_), concat(name_of(path_), ": ", property), expected, got));
  }

  void report_kind(const std::string& expected, const SeenTree& seen) {
    constexpr const char* kKinds[] = {"tensor", "non_tensor", "lazy_stack"};
    const SeenDict* dict = seen.dict();
    report("kind", expected, dict != nullptr ? dict->kind : kKinds[seen.node.index()]);
  }

  void compare_non_tensor(const NonTensor& expected, const SeenTree& seen) {
    const std::optional<json> data = seen_data(seen);
    if (!data) return report_kind("non_tensor", seen);
    if (*data == expected.data) return;
    // Non-tensor data that is the same in every row may be held once for all of them.
    const bool is_list = !expected.batch_size.empty() && expected.data.is_array();
    const bool is_same_in_every_row =
        is_list &&
        std::ranges::all_of(expected.data, [&](const json& row) { return row == *data; });
    if (!is_same_in_every_row) report("data", expected.data.dump(), data->dump());
  }

  /// Different data stacked together are held as a lazy stack of non-tensors.
  static std::optional<json> seen_data(const SeenTree& seen) {
    if (const NonTensor* data = seen.non_tensor()) return data->data;
    if (seen.lazy_stack() == nullptr) return std::nullopt;
    json rows = json::array();
    for (const SeenTree& member : seen.lazy_stack()->members) {
      const std::optional<json> row = seen_data(member);
      if (!row) return std::nullopt;
      rows.push_back(*row);
    }
    return rows;
  }

  void compare_stack(const LazyStack& expected, const SeenStack& seen) {
    if (expected.stack_dim != seen.stack_dim) {
      report("stack_dim", std::to_string(expected.stack_dim), std::to_string(seen.stack_dim));
    }
    if (expected.members.size() != seen.members.size()) {
      return report(
          "members", std::to_string(expected.members.size()), std::to_string(seen.members.size()));
    }
    for (std::size_t i = 0; i < expected.members.size(); ++i) {
      path_.push_back(std::to_string(i));
      compare(expected.members[i], seen.members[i]);
      path_.pop_back();
    }
  }

  void compare_dict(const Dict& expected, const SeenDict& seen) {
    if (expected.class_name != seen.class_name) {
      report("class", expected.class_name, seen.class_name);
    }
    if (expected.batch_size != seen.batch_size) {
      report("batch_size", json(expected.batch_size).dump(), json(seen.batch_size).dump());
    }
    for (const Entry& entry : expected.entries) {
      path_.push_back(entry.key);
      const auto found = std::ranges::find(seen.entries, entry.key, &SeenEntry::key);
      if (found == seen.entries.end()) {
        differences.push_back(
            {dotted(path_), {}, "an entry", "none", concat(dotted(path_), " is missing")});
      } else {
        compare(entry.value, found->value);
      }
      path_.pop_back();
    }
    for (const SeenEntry& entry : seen.entries) {
      if (std::ranges::find(expected.entries, entry.key, &Entry::key) != expected.entries.end()) {
        continue;
      }
      path_.push_back(entry.key);
      differences.push_back(
          {dotted(path_), {}, "no entry", "one", concat(dotted(path_), " must not be there")});
      path_.pop_back();
    }
  }

  Path path_;
};

Difference describe_bytes(const std::string& key,
                          const TensorLeaf& leaf,
                          const Bytes& expected,
                          const Bytes& got) {
  const DType& dtype = *leaf.dtype;
  Bytes poison = expected;
  invert_bytes(poison, dtype);
  if (got == poison) {
    return {key, {}, "what was sent", "poison", concat(key, " still holds its poison")};
  }
  const std::size_t size = dtype.size_bytes;
  std::size_t flat = 0;
  const auto element = [&](const Bytes& bytes) {
    return std::span(bytes).subspan(flat * size, size);
  };
  while (std::ranges::equal(element(expected), element(got))) ++flat;
  const std::string wanted = show_element(element(expected), dtype);
  std::string found = show_element(element(got), dtype);
  if (std::ranges::equal(element(got), element(poison))) found += " (poison)";
  const auto position = static_cast<std::int64_t>(flat);
  Difference difference = differ(key, concat(key, show_index(position, leaf.shape)), wanted, found);
  difference.index = unflatten(position, leaf.shape);
  return difference;
}

Difference describe_digest(const std::string& key,
                           const TensorLeaf& leaf,
                           const Bytes& expected,
                           const SeenBytes& got) {
  Bytes poison = expected;
  invert_bytes(poison, *leaf.dtype);
  if (got.equal(poison)) {
    return {key, {}, "what was sent", "poison", concat(key, " still holds its poison")};
  }
  return {
      key, {}, "other bytes", *got.sha256, concat(key, " differs: its digest is ", *got.sha256)};
}

/// The layout in which a snapshot shows a tensor of this form.
std::string layout_of(const std::string& form) {
  return form == "sparse_coo" || form == "jagged" ? form : "strided";
}

/// The shape that a snapshot shows; the rows of a jagged tensor have no common size.
Shape shown_shape(const TensorLeaf& leaf) {
  Shape shape = leaf.shape;
  if (leaf.form == "jagged") shape.at(1) = -1;
  return shape;
}

struct Property {
  const char* name;
  std::string expected;
  std::string got;
};

/// Lists what a tensor has beside its elements, the first of which that differs is told.
std::vector<Property> properties_of(const TensorLeaf& expected, const SeenTensor& seen) {
  std::vector<Property> list{
      {"dtype", std::string(expected.dtype->name), seen.dtype},
      {"layout", layout_of(expected.form), seen.layout},
      {"shape", json(shown_shape(expected)).dump(), json(seen.shape).dump()}};
  if (expected.form != "jagged" || !seen.rows) return list;
  const auto& [offsets, lengths, ragged_idx] = *seen.rows;
  list.push_back({"ragged_idx", "1", std::to_string(ragged_idx)});
  list.push_back({"lengths", "null", lengths ? json(*lengths).dump() : "null"});
  list.push_back({"offsets", json(jagged_offsets(expected.shape)).dump(), json(offsets).dump()});
  return list;
}

}  // namespace

Difference differ(const std::string& key,
                  const std::string& what,
                  const std::string& expected,
                  const std::string& got) {
  return {key, {}, expected, got, concat(what, " expected ", expected, " got ", got)};
}

std::vector<Difference> compare_tensor(const std::string& key,
                                       const TensorLeaf& expected,
                                       const SeenTensor& seen) {
  for (const auto& [name, want, got] : properties_of(expected, seen)) {
    if (want != got) return {differ(key, concat(key, ": ", name), want, got)};
  }
  if (seen.elements.are_readable()) {
    if (!seen.rows) return compare_elements(key, expected, seen.elements);
    auto differences =
        compare_elements(concat(key, " values"), jagged_values(expected), seen.elements);
    for (Difference& difference : differences) difference.key = key;
    return differences;
  }
  if (expected.form == "meta") return {};
  const std::string got = concat("layout ", seen.layout, " on ", seen.device);
  return {differ(key, concat(key, ": elements"), "bytes", got)};
}

std::vector<Difference> compare_elements(const std::string& key,
                                         const TensorLeaf& expected,
                                         const SeenBytes& seen) {
  const Bytes bytes = expected.bytes();
  if (seen.equal(bytes)) return {};
  if (!seen.bytes) return {describe_digest(key, expected, bytes, seen)};
  if (seen.bytes->size() == bytes.size()) {
    return {describe_bytes(key, expected, bytes, *seen.bytes)};
  }
  // The shape of a jagged tensor does not tell how many values it has.
  const auto show = [](std::size_t size) { return concat(size, " bytes"); };
  return {differ(key, key, show(bytes.size()), show(seen.bytes->size()))};
}

std::vector<Difference> compare(const Tree& expected, const SeenTree& seen) {
  Comparison comparison;
  comparison.compare(expected, seen);
  return comparison.differences;
}

}  // namespace tdconf
