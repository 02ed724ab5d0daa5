// SPDX-License-Identifier: BSD-3-Clause
#include "ops/object_message.h"

#include <ATen/ops/full.h>
#include <c10/util/StringUtil.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include "codec/block.h"
#include "codec/bytes.h"
#include "codec/class_text.h"
#include "codec/layout.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/pack.h"
#include "codec/storage_extent.h"
#include "codec/value_fields.h"
#include "ops/pickle_message.h"

namespace tdref {
namespace {

void add_items(Value& metadata, std::int64_t storage_bytes, const MetadataItems& items) {
  add_about_the_root(metadata, kTotalBytes, storage_bytes);
  for (const auto& [key, value] : items) {
    add_about_the_root(metadata, key, value);
  }
}

Value describe(const TensorDictBase& consolidated, const MetadataItems& items) {
  auto metadata = consolidated_metadata(consolidated);
  const auto total = consolidated.consolidated().storage.numel();
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_NOT_IMPLEMENTED(extent == total,
                              "the consolidated storage has ",
                              total,
                              " bytes, but its last leaf ends at byte ",
                              extent,
                              "; allowed is a storage that ends there");
  add_items(metadata, total, items);
  return metadata;
}

at::Tensor metadata_message(const Value& metadata) {
  const auto pickle = pickle_value(metadata);
  TORCH_CHECK_VALUE(pickle.size() <= kMaxMetadataBytes,
                    "the metadata of a tensordict has ",
                    pickle.size(),
                    " bytes; allowed are at most ",
                    kMaxMetadataBytes);
  return pickle_message(pickle);
}

std::string announces(int group_rank) {
  return c10::str("group rank ", group_rank, " announces ");
}

}  // namespace

MetadataItems class_of(const TensorDictBase& td) {
  std::optional<Value> name;
  if (const auto* tensorclass = td.as<TensorClass>()) {
    name = c10::str(tensorclass->cls().module, '.', tensorclass->cls().name);
  }
  return {{kTensorClass, std::move(name)}};
}

at::Tensor size_message(std::int64_t bytes) {
  return at::full({1}, bytes, at::kLong);
}

ObjectMessage object_message(const TensorDictBase& td, const MetadataItems& items) {
  if (td.is_consolidated()) {
    auto metadata = write_metadata(td, items);
    return {size_message(metadata.numel()), metadata, td.consolidated().storage};
  }
  const auto layout = lay_out(td);
  check_aligned(td, layout);
  auto description = metadata_at(td, layout);
  add_items(description, layout.total_bytes, items);
  auto storage = pack(td, layout);
  auto metadata = metadata_message(description);
  return {size_message(metadata.numel()), metadata, std::move(storage)};
}

at::Tensor write_metadata(const TensorDictBase& consolidated, const MetadataItems& items) {
  return metadata_message(describe(consolidated, items));
}

Value read_metadata(const at::Tensor& pickle) {
  const auto bytes = as_bytes(pickle);
  auto metadata = unpickle_value(bytes);
  note_unpickled(bytes);
  return metadata;
}

void check_metadata_bytes(std::int64_t bytes, int group_rank) {
  TORCH_CHECK_VALUE(0 <= bytes && bytes <= static_cast<std::int64_t>(kMaxMetadataBytes),
                    announces(group_rank),
                    "metadata of ",
                    bytes,
                    " bytes; allowed are 0 to ",
                    kMaxMetadataBytes);
}

std::int64_t storage_bytes(const Value& metadata, int group_rank) {
  const auto total = field<std::int64_t>(metadata, kTotalBytes);
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_VALUE(total == extent,
                    announces(group_rank),
                    "a storage of ",
                    total,
                    " bytes, but its last leaf ends at byte ",
                    extent);
  return total;
}

void check_storage_device(const Value& metadata,
                          const std::optional<at::Device>& device,
                          int group_rank) {
  const auto& name = text(any_field(metadata, kStorageDevice), "the device of a storage");
  TORCH_CHECK_NOT_IMPLEMENTED(device.has_value() || name == "cpu",
                              announces(group_rank),
                              "a storage on the device '",
                              name,
                              "', which is not served; allowed is cpu");
}

at::Tensor allocate(std::int64_t bytes, const char* what, int group_rank) {
  try {
    return new_block(bytes);
  } catch (const c10::Error&) {
    TORCH_CHECK_VALUE(
        false, announces(group_rank), what, " of ", bytes, " bytes, which cannot be allocated");
  }
}

AnyTensorDict build(const Value& metadata, const at::Tensor& storage, int group_rank) {
  auto td = rebuild(metadata, storage);
  const auto* tensorclass = metadata.find(kTensorClass);
  if (tensorclass == nullptr) {
    return td;
  }
  const auto& name = text(*tensorclass, "a tensorclass");
  const auto cls = class_named(name);
  TORCH_CHECK_VALUE(cls.has_value(),
                    announces(group_rank),
                    "the tensorclass '",
                    name,
                    "'; allowed are a module, a full stop and a name");
  auto* contents = td->as<TensorDict>();
  TORCH_CHECK_NOT_IMPLEMENTED(contents != nullptr,
                              announces(group_rank),
                              "the tensorclass '",
                              name,
                              "' that holds a ",
                              text(any_field(metadata, "cls"), "a class"),
                              "; allowed is a TensorDict");
  return TensorClass(*cls, std::move(*contents));
}

}  // namespace tdref
