// SPDX-License-Identifier: BSD-3-Clause
#include "reference/trees.h"

#include <tdref/consolidate.h>

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

tdref::Entry make_leaf(const json& tree, const std::string& where) {
  return tdref::Leaf{.tensor = make_tensor(tree, where),
                     .is_parameter = tree.value("form", "plain") == "parameter"};
}

tdref::Entry make_entry(const json& tree, const std::string& where) {
  const std::string kind = kind_of(tree, where);
  if (kind == "tensor") return make_leaf(tree, where);
  if (kind == "non_tensor") return make_non_tensor(tree, where);
  return make_tensordict(tree, where);
}

std::optional<at::Device> device_of(const Fields& fields) {
  const auto device = fields.required<std::optional<std::string>>("device");
  if (!device) return std::nullopt;
  if (*device != "cpu") throw BadRequest(fields.where() + ".device: expected cpu or null");
  return at::Device(at::kCPU);
}

json snapshot_leaf(const tdref::Leaf& leaf) {
  json description = snapshot_tensor(leaf.tensor);
  if (leaf.is_parameter) description["class"] = "Parameter";
  return description;
}

json snapshot_tree(const tdref::TensorDict& td);

json snapshot_entry(const tdref::Entry& entry, const tdref::TensorDict& parent) {
  if (const auto* leaf = entry.leaf()) return snapshot_leaf(*leaf);
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

json snapshot_tree(const tdref::TensorDict& td) {
  json entries = json::array();
  for (const tdref::Item& item : td.items()) {
    entries.push_back(json::array({item.key, snapshot_entry(item.value, td)}));
  }
  return {{"kind", "tensordict"},
          {"class", "TensorDict"},
          {"batch_size", td.batch_size()},
          {"names", snapshot_names(td.names())},
          {"device", td.device() ? json(td.device()->str()) : json(nullptr)},
          {"locked", td.is_locked()},
          {"entries", std::move(entries)}};
}

}  // namespace

tdref::TensorDict make_tensordict(const json& tree, const std::string& where) {
  const std::string kind = kind_of(tree, where);
  if (kind != "tensordict") throw Unsupported("kind:" + kind);
  const Fields fields(
      tree, where, {"kind", "batch_size", "names", "device", "entries", "consolidated", "locked"});
  tdref::TensorDict td(fields.required<std::vector<std::int64_t>>("batch_size"), device_of(fields));
  for (const json& entry : fields.required<std::vector<json>>("entries")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) {
      throw BadRequest(where + ".entries: expected pairs [key, TREE]");
    }
    const auto key = entry[0].get<std::string>();
    td.set(key, make_entry(entry[1], where + '.' + key));
  }
  if (auto names = fields.required<std::optional<tdref::DimNames>>("names")) {
    td.set_names(std::move(*names));
  }
  if (fields.required<bool>("locked")) td.lock();
  return fields.required<bool>("consolidated") ? tdref::consolidate(td) : td;
}

json snapshot_tensordict(const tdref::TensorDict& td) {
  json tree = snapshot_tree(td);
  tree["consolidated"] =
      td.is_consolidated() ? snapshot_storage(td.consolidated().storage) : json(nullptr);
  return tree;
}

}  // namespace tdconf::adapter
