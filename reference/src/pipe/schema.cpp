// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/schema.h"

#include <c10/util/Exception.h>
#include <tdref/consolidate.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/json.h"
#include "codec/metadata.h"
#include "codec/value_fields.h"

namespace tdref {
namespace {

constexpr const char* kDevice = "_device";

/// Takes an item out of a dict.
std::optional<Value> take(Value::Dict& dict, std::string_view key) {
  const auto found = std::find_if(dict.begin(), dict.end(), [&](const auto& item) {
    return item.first == Value(std::string(key));
  });
  if (found == dict.end()) {
    return std::nullopt;
  }
  Value value = std::move(found->second);
  dict.erase(found);
  return value;
}

}  // namespace

Schema schema_of(const TensorDictBase& consolidated) {
  return {from_json(to_json(consolidated_metadata(consolidated))),
          consolidated.consolidated().storage.numel()};
}

std::string schema_to_json(const Schema& schema) {
  Value root = schema.metadata;
  add_about_the_root(root, kTotalBytes, schema.total_bytes);
  add_about_the_root(root, kDevice, "cpu");
  std::string json = to_json(root);
  TORCH_CHECK_VALUE(json.size() <= kMaxMetadataBytes,
                    "the metadata of a tensordict has ",
                    json.size(),
                    " bytes; a pipe carries at most ",
                    kMaxMetadataBytes);
  return json;
}

Schema schema_from_json(std::string_view json) {
  Value root = from_json(json);
  auto* items = root.get_if<Value::Dict>();
  TORCH_CHECK_VALUE(items != nullptr, "the metadata is a ", root.type_name(), ", not a dict");
  const auto total = take(*items, kTotalBytes);
  TORCH_CHECK_VALUE(total.has_value(), "the metadata lacks the field '", kTotalBytes, "'");
  const auto total_bytes = integer(*total, kTotalBytes);
  TORCH_CHECK_VALUE(total_bytes >= 0, "the metadata announces ", total_bytes, " bytes");
  const auto sender_device = take(*items, kDevice);
  device(sender_device.has_value() ? &*sender_device : nullptr);
  return {std::move(root), total_bytes};
}

}  // namespace tdref
