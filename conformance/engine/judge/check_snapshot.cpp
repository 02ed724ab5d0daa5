// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_snapshot.h"

#include <map>
#include <span>

#include "engine/judge/check.h"
#include "engine/value/element.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

/// Reads the elements as nested lists; those of a jagged tensor row by row, if they lie so.
json elements_of(const SeenTensor& tensor) {
  const DType& dtype = dtype_named(tensor.dtype);
  const std::span<const std::uint8_t> bytes(*tensor.elements.bytes);
  if (!tensor.rows) return nested_list(bytes, dtype, tensor.shape);
  const auto& [offsets, lengths, ragged_idx] = *tensor.rows;
  if (ragged_idx != 1) return concat("a ragged dimension ", ragged_idx);
  Shape shape(tensor.shape.begin() + 1, tensor.shape.end());
  shape[0] = 1;
  const std::size_t size = static_cast<std::size_t>(count_elements(shape)) * dtype.size_bytes;
  json list = json::array();
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    shape[0] = lengths ? (*lengths)[row] : offsets[row + 1] - offsets[row];
    list.push_back(nested_list(bytes.subspan(static_cast<std::size_t>(offsets[row]) * size,
                                             static_cast<std::size_t>(shape[0]) * size),
                               dtype,
                               shape));
  }
  return list;
}

class SnapshotCheck {
 public:
  SnapshotCheck(const Step& step, const Snapshot& seen, const Snapshot* made)
      : step_(step), expect_(step.expect), seen_(seen), made_(made) {}

  std::vector<Difference> run() {
    if (expect_.equals != nullptr) append(compare(*expect_.equals, seen_.root));
    if (expect_.unchanged) append(compare(*step_.made, seen_.root));
    if (expect_.in_place || expect_.unchanged) check_memory();
    if (expect_.unchanged) check_descriptions();
    check_root();
    if (expect_.locked) check_locked();
    check_keys();
    check_sums();
    check_values();
    check_requires_grad();
    check_consolidated();
    return std::move(differences_);
  }

 private:
  void append(std::vector<Difference> more) {
    differences_.insert(differences_.end(), more.begin(), more.end());
  }

  void report(const std::string& key,
              const std::string& property,
              const std::string& expected,
              const std::string& got) {
    const std::string place = key.empty() ? "" : concat(key, ": ");
    differences_.push_back(differ(key, concat(place, property), expected, got));
  }

  /// Every tensor must lie where it lay when the value was first shown.
  void check_memory() {
    std::map<std::string, std::string> tokens;
    if (made_ != nullptr) {
      for_each_tensor(made_->root, [&](const Path& path, const SeenTensor& tensor) {
        tokens[dotted(path)] = tensor.token;
      });
    }
    for_each_tensor(seen_.root, [&](const Path& path, const SeenTensor& tensor) {
      const auto made = tokens.find(dotted(path));
      if (made == tokens.end()) {
        report(dotted(path), "memory", "that of the value made", "a tensor that was not made");
      } else if (made->second != tensor.token) {
        report(dotted(path), "memory", "that of the value made", "other memory");
      }
      tokens.erase(dotted(path));
    });
    for (const auto& [key, token] : tokens)
      report(key, "memory", "that of the value made", "no tensor");
  }

  /// Names, device and lock must be, at each level, what they were when the value was first shown.
  void check_descriptions() {
    if (made_ == nullptr) return;
    std::map<Path, const SeenTree*> made;
    for_each_node(made_->root, [&](const Path& path, const SeenTree& tree) { made[path] = &tree; });
    for_each_node(seen_.root, [&](const Path& path, const SeenTree& tree) {
      if (made.contains(path)) check_description(dotted(path), *made[path], tree);
    });
  }

  void check_description(const std::string& key, const SeenTree& made, const SeenTree& seen) {
    const auto check = [&](const char* property, const json& before, const json& after) {
      if (before != after) report(key, property, before.dump(), after.dump());
    };
    if (made.dict() != nullptr && seen.dict() != nullptr) {
      check("names", made.dict()->names, seen.dict()->names);
      check("device", made.dict()->device, seen.dict()->device);
    }
    if (made.locked() && seen.locked()) check("locked", *made.locked(), *seen.locked());
  }

  void check_root() {
    const SeenDict* root = seen_.root.dict();
    const bool looks_at_root =
        expect_.names || expect_.device || expect_.batch_size || expect_.keys;
    if (!looks_at_root) return;
    if (root == nullptr) return report("", "the root", "a tensordict", "another kind");
    if (expect_.names && *expect_.names != root->names) {
      report("", "names", expect_.names->dump(), root->names.dump());
    }
    if (expect_.device && *expect_.device != root->device) {
      report("", "device", expect_.device->dump(), root->device.dump());
    }
    if (expect_.batch_size && *expect_.batch_size != root->batch_size) {
      report("", "batch_size", json(*expect_.batch_size).dump(), json(root->batch_size).dump());
    }
  }

  /// A lock holds for all that is in what is locked.
  void check_locked() {
    bool has_told = false;
    for_each_node(seen_.root, [&](const Path& path, const SeenTree& tree) {
      const std::optional<bool> locked = tree.locked();
      if (!locked || locked == expect_.locked || has_told) return;
      report(dotted(path), "locked", json(*expect_.locked).dump(), json(*locked).dump());
      has_told = true;
    });
  }

  void check_keys() {
    if (!expect_.keys || seen_.root.dict() == nullptr) return;
    std::vector<std::string> keys;
    for (const SeenEntry& entry : seen_.root.dict()->entries) keys.push_back(entry.key);
    if (keys != *expect_.keys) report("", "keys", json(*expect_.keys).dump(), json(keys).dump());
  }

  /// Returns the tensor with its elements, or null after having said what is wrong.
  const SeenTensor* readable(const std::string& key) {
    const SeenTensor* tensor = find_tensor(seen_.root, key);
    if (tensor == nullptr) {
      differences_.push_back({key, {}, "a tensor", "none", concat(key, " is missing")});
      return nullptr;
    }
    if (!tensor->elements.bytes) {
      report(key, "elements", "in the snapshot", "a digest, or elements that cannot be read");
      return nullptr;
    }
    return tensor;
  }

  void check_sums() {
    for (const auto& [key, expected] : expect_.sum) {
      const SeenTensor* tensor = readable(key);
      if (tensor == nullptr) continue;
      const DType& dtype = dtype_named(tensor->dtype);
      double sum = 0;
      bool is_real = dtype.kind != DTypeKind::kComplex;
      const Bytes& bytes = *tensor->elements.bytes;
      for (std::size_t at = 0; is_real && at < bytes.size(); at += dtype.size_bytes) {
        const json element = decode_element(std::span(bytes).subspan(at, dtype.size_bytes), dtype);
        sum += element.is_boolean() ? (element.get<bool>() ? 1.0 : 0.0) : element.get<double>();
      }
      if (!is_real) {
        report(key, "sum", expected.dump(), concat("a tensor of ", tensor->dtype));
      } else if (sum != expected.get<double>()) {
        report(key, "sum", expected.dump(), json(sum).dump());
      }
    }
  }

  void check_values() {
    for (const auto& [key, expected] : expect_.values) {
      const SeenTensor* tensor = readable(key);
      if (tensor == nullptr) continue;
      const json got = elements_of(*tensor);
      if (got != expected) report(key, "values", expected.dump(), got.dump());
    }
  }

  void check_requires_grad() {
    for (const auto& [key, expected] : expect_.requires_grad) {
      const SeenTensor* tensor = find_tensor(seen_.root, key);
      if (tensor == nullptr) {
        differences_.push_back({key, {}, "a tensor", "none", concat(key, " is missing")});
      } else if (tensor->requires_grad != expected) {
        report(key, "requires_grad", json(expected).dump(), json(tensor->requires_grad).dump());
      }
    }
  }

  void check_consolidated() {
    const bool is_consolidated = seen_.consolidated.has_value();
    if (expect_.is_consolidated && *expect_.is_consolidated != is_consolidated) {
      report("",
             "is_consolidated",
             json(*expect_.is_consolidated).dump(),
             json(is_consolidated).dump());
    }
    if (!expect_.storage_holds) return;
    if (!is_consolidated)
      return report("", "the storage", "one", "a value that is not consolidated");
    append(check_storage(*expect_.storage_holds, seen_.consolidated->bytes));
  }

  const Step& step_;
  const Expect& expect_;
  const Snapshot& seen_;
  const Snapshot* made_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> check_snapshot(const Step& step,
                                       const Snapshot& seen,
                                       const Snapshot* made) {
  return SnapshotCheck(step, seen, made).run();
}

}  // namespace tdconf
