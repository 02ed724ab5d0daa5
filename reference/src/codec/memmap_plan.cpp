// SPDX-License-Identifier: BSD-3-Clause
#include "codec/memmap_plan.h"

#include <tdref/pickle.h>

#include <algorithm>
#include <set>
#include <utility>

#include "codec/class_text.h"
#include "codec/dtype_names.h"
#include "codec/elements.h"
#include "codec/file.h"
#include "codec/json.h"
#include "codec/limits.h"
#include "codec/memmap_format.h"
#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {
namespace {

using std::filesystem::path;

Value int_list(c10::IntArrayRef numbers) {
  return Value::List(numbers.begin(), numbers.end());
}

Value optional_text(const std::optional<std::string>& text) {
  return text.has_value() ? Value(*text) : Value();
}

// Whether JSON gives it back, but for tuples.
bool json_has_a_form_for(const Value& value) {
  if (const auto* dict = value.get_if<Value::Dict>()) {
    return std::all_of(dict->begin(), dict->end(), [](const auto& item) {
      return item.first.template is<std::string>() && json_has_a_form_for(item.second);
    });
  }
  if (const auto* items = value.sequence()) {
    return std::all_of(items->begin(), items->end(), json_has_a_form_for);
  }
  return !value.is<Value::Bytes>() && !value.is<PythonClass>();
}

const char* class_of(const NonTensor& data) {
  return data.stacked ? "NonTensorStack" : "NonTensorData";
}

std::string class_of(const TensorDictBase& td) {
  return visit_kind(
      td,
      Overloaded{[](const LazyStackedTensorDict&) { return std::string("LazyStackedTensorDict"); },
                 [](const TensorClass& tensorclass) { return tensorclass.cls().name; },
                 [](const auto&) { return std::string("TensorDict"); }});
}

// Says of which class of tensordict the folder is; an entry of the same name keeps its place.
void add_class(Value::Dict& meta, const char* module, const std::string& name) {
  const auto add = [&](const char* key, Value value) {
    if (Value(meta).find(key) == nullptr) {
      meta.emplace_back(key, std::move(value));
    }
  };
  add("_type", to_text({module, name}));
  add("_format_version", memmap_format::kVersion);
  add("_class", "tensordict:" + name);
}

void check_leaf(const std::string& key, const Entry& entry) {
  const auto* leaf = entry.leaf();
  TORCH_CHECK_NOT_IMPLEMENTED(
      leaf != nullptr, "the jagged leaf '", key, "' cannot be memory-mapped");
  check_has_bytes(leaf->tensor, "the leaf '", key, "' cannot be memory-mapped");
}

class Planner {
 public:
  explicit Planner(bool existsok) : existsok_(existsok) {}

  void plan(const TensorDictBase& td, const path& folder, int depth) {
    check_depth(depth);
    plan_.folders.push_back(folder);
    visit_kind(
        td,
        Overloaded{[&](const TensorDict& items) { plan_items(items, folder, depth); },
                   [&](const PersistentTensorDict& persistent) {
                     plan_items(persistent.contents(), folder, depth);
                   },
                   [&](const LazyStackedTensorDict& stack) { plan_members(stack, folder, depth); },
                   [&](const TensorClass& tensorclass) {
                     plan(tensorclass.contents(), folder / memmap_format::kContents, depth + 1);
                     add_meta(folder, {{"_type", to_text(tensorclass.cls())}});
                   }});
  }

  MemmapPlan take() { return std::move(plan_); }

 private:
  void plan_items(const TensorDict& td, const path& folder, int depth) {
    std::set<std::string> names{memmap_format::kMeta};
    Value::Dict meta;
    for (const auto& [key, value] : td.items()) {
      TORCH_CHECK_NOT_IMPLEMENTED(!memmap_format::is_reserved_key(key),
                                  "the key '",
                                  key,
                                  "' has no place in meta.json, which uses it itself");
      const auto name = name_of(key, value);
      TORCH_CHECK_NOT_IMPLEMENTED(names.insert(name).second,
                                  "the entry '",
                                  key,
                                  "' needs the name '",
                                  name,
                                  "' in the folder, which another file has");
      meta.emplace_back(key, plan_entry(key, value, td.device(), folder / name, depth));
    }
    meta.emplace_back("shape", int_list(td.batch_size()));
    meta.emplace_back("device", "cpu");
    add_class(meta, "tensordict._td", "TensorDict");
    add_names(meta, td);
    add_meta(folder, std::move(meta));
  }

  static std::string name_of(const std::string& key, const Entry& entry) {
    const bool is_folder = entry.nested() != nullptr || entry.non_tensor() != nullptr;
    auto name = memmap_format::name_of(key);
    if (!is_folder) {
      name += memmap_format::kLeafSuffix;
    }
    return name;
  }

  // Returns what meta.json says of the entry.
  Value plan_entry(const std::string& key,
                   const Entry& entry,
                   const std::optional<at::Device>& device,
                   const path& place,
                   int depth) {
    if (const auto* nested = entry.nested()) {
      check_is_no_link(place);
      plan(*nested, place, depth + 1);
      return Value::Dict{{"type", class_of(*nested)}};
    }
    if (const auto* data = entry.non_tensor()) {
      check_is_no_link(place);
      plan_.folders.push_back(place);
      data->stacked ? plan_stacked_data(*data, device, place) : plan_data(*data, place);
      return Value::Dict{{"type", class_of(*data)}};
    }
    check_leaf(key, entry);
    const auto& tensor = entry.tensor();
    if (tensor.numel() > 0) {
      add_file(place, tensor);
    }
    return Value::Dict{{"device", "cpu"},
                       {"shape", int_list(tensor.sizes())},
                       {"dtype", std::string(dtype_name(tensor.scalar_type()).name)},
                       {"is_nested", false}};
  }

  void plan_members(const LazyStackedTensorDict& stack, const path& folder, int depth) {
    const auto& members = stack.members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      check_is_no_link(folder / member_key(i));
      plan(*members[i], folder / member_key(i), depth + 1);
    }
    TORCH_CHECK_VALUE(!is_there(folder / member_key(members.size())),
                      "the folder '",
                      folder.string(),
                      "' holds a '",
                      member_key(members.size()),
                      "', which would be read as a member of the lazy stack; remove it first");
    Value::Dict meta;
    add_class(meta, "tensordict._lazy", "LazyStackedTensorDict");
    meta.emplace_back("stack_dim", stack.stack_dim());
    meta.emplace_back("stack_dim_name", optional_text(stack.stack_dim_name()));
    add_meta(folder, std::move(meta));
  }

  void plan_data(const NonTensor& data, const path& folder) {
    Value::Dict meta{{"_type", to_text({"tensordict.tensorclass", "NonTensorData"})}};
    if (json_has_a_form_for(data.data)) {
      meta.emplace_back("data", data.data);
      plan_.stale.push_back(folder / memmap_format::kOtherPickle);
    } else {
      add_file(folder / memmap_format::kOtherPickle,
               pickle_value(Value::Dict{{"data", data.data}}));
    }
    plan_.stale.push_back(folder / memmap_format::kJsonTypes);
    meta.emplace_back("_metadata", Value());
    meta.emplace_back("_is_non_tensor", true);
    add_meta(folder, std::move(meta));
  }

  void plan_stacked_data(const NonTensor& data,
                         const std::optional<at::Device>& device,
                         const path& folder) {
    Value::Dict meta;
    add_class(meta, "tensordict.tensorclass", "NonTensorStack");
    meta.emplace_back("stack_dim", 0);
    meta.emplace_back("device", device.has_value() ? Value(device->str()) : Value());
    if (json_has_a_form_for(data.data)) {
      meta.emplace_back("data", data.data);
      plan_.stale.push_back(folder / memmap_format::kStackPickle);
    } else {
      meta.emplace_back("data", memmap_format::kStackPickle);
      add_file(folder / memmap_format::kStackPickle, pickle_value(data.data));
    }
    add_meta(folder, std::move(meta));
  }

  static void add_names(Value::Dict& meta, const TensorDict& td) {
    if (td.names().empty()) {
      return;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(!td.contains("_names"),
                                "the names of a tensordict with the key '_names' have no place in "
                                "meta.json");
    Value::List names;
    std::transform(td.names().begin(), td.names().end(), std::back_inserter(names), optional_text);
    meta.emplace_back("_names", std::move(names));
  }

  void add_meta(const path& folder, Value::Dict meta) {
    add_file(folder / memmap_format::kMeta, to_json(std::move(meta), JsonForm::kPython));
  }

  void add_file(path file, std::variant<std::string, at::Tensor> content) {
    check_is_no_link(file);
    TORCH_CHECK(existsok_ || !is_there(file), "the file '", file.string(), "' already exists");
    plan_.files.push_back({std::move(file), std::move(content)});
  }

  static void check_is_no_link(const path& place) {
    TORCH_CHECK_VALUE(
        !is_link(place), "'", place.string(), "' is a symbolic link, and is not written through");
  }

  bool existsok_;
  MemmapPlan plan_;
};

}  // namespace

MemmapPlan plan_memmap(const TensorDictBase& td, const path& prefix, bool existsok) {
  Planner planner(existsok);
  planner.plan(td, prefix, 0);
  return planner.take();
}

}  // namespace tdref
