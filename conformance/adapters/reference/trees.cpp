// SPDX-License-Identifier: BSD-3-Clause
#include "reference/trees.h"

#include <ATen/ops/arange.h>
#include <tdref/consolidate.h>
#include <tdref/memory_map.h>

#include <optional>
#include <utility>
#include <vector>

#include "common/tensors.h"
#include "reference/literals.h"

namespace tdconf::adapter {
namespace {

std::string kind_of(const json& tree, const std::string& where) {
  if (!tree.is_object() || !tree.contains("kind")) throw BadRequest(where + ": expected a TREE");
  std::string kind;
  decode(tree["kind"], where + ".kind", kind);
  return kind;
}

tdref::Entry make_non_tensor(const json& tree, const std::string& where) {
  const Fields fields(tree, where, {"kind", "data", "batch_size"});
  return tdref::NonTensor{.data = to_value(fields.required<json>("data"))};
}

/// The class of the tensordict adapter that the form `subclass` makes there.
const tdref::PythonClass kSubclass{"tdconf_tensordict_adapter.trees", "TensorSubclass"};

/// Rows that grow: the first dimension counts them, the second is their mean length.
tdref::Jagged jagged(const at::Tensor& plain, const std::string& where) {
  if (plain.dim() < 2) throw BadRequest(where + ".form: a jagged tensor needs two dimensions");
  const std::int64_t rows = plain.size(0);
  const at::Tensor row = at::arange(rows + 1);
  return {.values = plain.flatten(0, 1),
          .offsets = (row * (row + 1) * plain.size(1)).floor_divide(rows + 1)};
}

tdref::Entry make_leaf(json tree, const std::string& where) {
  const std::string form = tree.value("form", "plain");
  if (form == "parameter") return tdref::Leaf{make_tensor(tree, where), tdref::kParameter};
  // C++ has no tensors of these forms; tdref holds them by a plain one.
  if (form == "memmap" || form == "subclass" || form == "jagged") tree["form"] = "plain";
  const at::Tensor tensor = make_tensor(tree, where);
  if (form == "memmap") return tdref::memory_map(tensor);
  if (form == "subclass") return tdref::Leaf{tensor, kSubclass};
  if (form == "jagged") return jagged(tensor, where);
  return tensor;
}

tdref::Entry make_lazy_stack(const json& tree, const std::string& where, Files& files);

tdref::Entry make_entry(const json& tree, const std::string& where, Files& files) {
  const std::string kind = kind_of(tree, where);
  if (kind == "tensor") return make_leaf(tree, where);
  if (kind == "non_tensor") return make_non_tensor(tree, where);
  if (kind == "lazy_stack") return make_lazy_stack(tree, where, files);
  return make_tensordict(tree, where, files);
}

tdref::AnyTensorDict nested_of(const tdref::Entry& entry, const std::string& where) {
  if (entry.nested() == nullptr) throw BadRequest(where + ": expected a tensordict");
  return tdref::AnyTensorDict(*entry.nested());
}

/// A stack of non-tensor data is one entry, as in tensordict.
tdref::Entry make_lazy_stack(const json& tree, const std::string& where, Files& files) {
  const Fields fields(tree, where, {"kind", "stack_dim", "members"});
  const auto stack_dim = fields.required<std::int64_t>("stack_dim");
  std::vector<tdref::AnyTensorDict> members;
  tdref::Value::List data;
  for (const json& member : fields.required<std::vector<json>>("members")) {
    const std::string place =
        where + ".members[" + std::to_string(members.size() + data.size()) + ']';
    const tdref::Entry entry = make_entry(member, place, files);
    if (const auto* non_tensor = entry.non_tensor()) {
      data.push_back(non_tensor->data);
    } else {
      members.push_back(nested_of(entry, place));
    }
  }
  if (data.empty()) return tdref::LazyStackedTensorDict(std::move(members), stack_dim);
  if (!members.empty() || stack_dim != 0) {
    throw BadRequest(where + ": non-tensor data is stacked by itself, along dimension 0");
  }
  return tdref::NonTensor{std::move(data), true};
}

std::optional<at::Device> device_of(const Fields& fields) {
  const auto device = fields.required<std::optional<std::string>>("device");
  if (!device) return std::nullopt;
  if (*device != "cpu") throw BadRequest(fields.where() + ".device: expected cpu or null");
  return at::Device(at::kCPU);
}

json snapshot_leaf(const tdref::Leaf& leaf) {
  json description = snapshot_tensor(leaf.tensor);
  description["class"] = leaf.cls.name;
  return description;
}

json numbers_of(const at::Tensor& list) {
  const at::Tensor numbers = list.to(at::kLong).contiguous();
  const auto* begin = numbers.const_data_ptr<std::int64_t>();
  return std::vector<std::int64_t>(begin, begin + numbers.numel());
}

/// As Python shows a NestedTensor: its ragged dimension has no size, its elements are its values.
json snapshot_jagged(const tdref::Jagged& jagged) {
  json description = snapshot_tensor(jagged.values);
  std::vector<std::int64_t> shape = jagged.values.sizes().vec();
  shape[static_cast<std::size_t>(jagged.ragged_idx - 1)] = -1;
  shape.insert(shape.begin(), jagged.rows());
  description["shape"] = shape;
  description["class"] = "NestedTensor";
  description["layout"] = "jagged";
  description["rows"] = {
      {"offsets", numbers_of(jagged.offsets)},
      {"lengths", jagged.lengths.defined() ? numbers_of(jagged.lengths) : json(nullptr)},
      {"ragged_idx", jagged.ragged_idx}};
  return description;
}

json snapshot_tree(const tdref::TensorDictBase& td);

json snapshot_entry(const tdref::Entry& entry, const tdref::TensorDict& parent) {
  if (const auto* leaf = entry.leaf()) return snapshot_leaf(*leaf);
  if (const auto* jagged = entry.jagged()) return snapshot_jagged(*jagged);
  if (const auto* nested = entry.nested()) return snapshot_tree(*nested);
  return {{"kind", "non_tensor"},
          {"data", to_json(entry.non_tensor()->data)},
          {"batch_size", parent.batch_size()}};
}

/// Null when no dimension has a name, whether names were never given or all are None.
json snapshot_names(const tdref::DimNames& names) {
  json list = json::array();
  bool any = false;
  for (const auto& name : names) {
    list.push_back(name ? json(*name) : json(nullptr));
    any = any || name.has_value();
  }
  return any ? list : json(nullptr);
}

json snapshot_entries(const tdref::TensorDict& td) {
  json entries = json::array();
  for (const tdref::Item& item : td.items()) {
    entries.push_back(json::array({item.key, snapshot_entry(item.value, td)}));
  }
  return entries;
}

json snapshot_plain(const tdref::TensorDict& td) {
  return {{"kind", "tensordict"},
          {"class", "TensorDict"},
          {"batch_size", td.batch_size()},
          {"names", snapshot_names(td.names())},
          {"device", td.device() ? json(td.device()->str()) : json(nullptr)},
          {"locked", td.is_locked()},
          {"entries", snapshot_entries(td)}};
}

json snapshot_lazy_stack(const tdref::LazyStackedTensorDict& stack) {
  json members = json::array();
  for (const auto& member : stack.members()) members.push_back(snapshot_tree(*member));
  return {{"kind", "lazy_stack"},
          {"class", "LazyStackedTensorDict"},
          {"stack_dim", stack.stack_dim()},
          {"locked", stack.is_locked()},
          {"members", std::move(members)}};
}

json snapshot_persistent(const tdref::PersistentTensorDict& td) {
  return {{"kind", "persistent"},
          {"class", "PersistentTensorDict"},
          {"batch_size", td.batch_size()},
          {"locked", td.is_locked()},
          {"entries", snapshot_entries(td.contents())}};
}

json snapshot_tensorclass(const tdref::TensorClass& td) {
  json description = snapshot_plain(td.contents());
  description["kind"] = "tensorclass";
  description["class"] = td.cls().name;
  return description;
}

json snapshot_tree(const tdref::TensorDictBase& td) {
  if (const auto* tensorclass = td.as<tdref::TensorClass>()) {
    return snapshot_tensorclass(*tensorclass);
  }
  if (const auto* stack = td.as<tdref::LazyStackedTensorDict>()) return snapshot_lazy_stack(*stack);
  if (const auto* file = td.as<tdref::PersistentTensorDict>()) return snapshot_persistent(*file);
  return snapshot_plain(*td.as<tdref::TensorDict>());
}

tdref::TensorDict with_entries(tdref::TensorDict td,
                               const Fields& fields,
                               const std::string& where,
                               Files& files) {
  for (const json& entry : fields.required<std::vector<json>>("entries")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) {
      throw BadRequest(where + ".entries: expected pairs [key, TREE]");
    }
    const auto key = entry[0].get<std::string>();
    td.set(key, make_entry(entry[1], where + '.' + key, files));
  }
  return td;
}

tdref::AnyTensorDict make_persistent(const json& tree, const std::string& where, Files& files) {
  const Fields fields(tree, where, {"kind", "batch_size", "entries"});
  const tdref::TensorDict in_memory(fields.required<std::vector<std::int64_t>>("batch_size"));
  return tdref::PersistentTensorDict::from_dict(with_entries(in_memory, fields, where, files),
                                                files.new_name());
}

tdref::TensorDict make_items(const Fields& fields, const std::string& where, Files& files) {
  auto td = with_entries(tdref::TensorDict(fields.required<std::vector<std::int64_t>>("batch_size"),
                                           device_of(fields)),
                         fields,
                         where,
                         files);
  if (auto names = fields.required<std::optional<tdref::DimNames>>("names")) {
    td.set_names(std::move(*names));
  }
  if (fields.required<bool>("locked")) td.lock();
  return td;
}

const std::vector<std::string> kPlainFields{
    "kind", "batch_size", "names", "device", "entries", "consolidated", "locked"};

tdref::AnyTensorDict make_plain(const json& tree, const std::string& where, Files& files) {
  const Fields fields(tree, where, kPlainFields);
  auto td = make_items(fields, where, files);
  return fields.required<bool>("consolidated") ? tdref::consolidate(td) : td;
}

/// Where the tensordict adapter makes the classes; a peer that is told this name finds them there.
constexpr const char* kMadeClasses = "tdconf_tensordict_adapter.made";

tdref::AnyTensorDict make_tensorclass(const json& tree, const std::string& where, Files& files) {
  std::vector<std::string> names = kPlainFields;
  names.push_back("class");
  const Fields fields(tree, where, names);
  tdref::TensorClass td({kMadeClasses, fields.required<std::string>("class")},
                        make_items(fields, where, files));
  return fields.required<bool>("consolidated") ? tdref::consolidate(td) : td;
}

}  // namespace

tdref::AnyTensorDict make_tensordict(const json& tree, const std::string& where, Files& files) {
  const std::string kind = kind_of(tree, where);
  if (kind == "tensordict") return make_plain(tree, where, files);
  if (kind == "lazy_stack") return nested_of(make_lazy_stack(tree, where, files), where);
  if (kind == "persistent") return make_persistent(tree, where, files);
  if (kind == "tensorclass") return make_tensorclass(tree, where, files);
  throw Unsupported("kind:" + kind);
}

json snapshot_tensordict(const tdref::TensorDictBase& td) {
  json tree = snapshot_tree(td);
  tree["consolidated"] =
      td.is_consolidated() ? snapshot_storage(td.consolidated().storage) : json(nullptr);
  return tree;
}

}  // namespace tdconf::adapter
