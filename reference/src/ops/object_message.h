// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tdref {

// A tensordict that travels is a pickle, its metadata, and its consolidated storage.

/// The class of a tensorclass whose metadata is that of its contents, as module and name.
inline constexpr const char* kTensorClass = "_tensorclass_type";
/// Where the storage lies on the rank that has it.
inline constexpr const char* kStorageDevice = "_storage_device";
/// How many bytes each storage of a scatter is padded to.
inline constexpr const char* kMaxBytes = "_max_bytes";

/// Items that travel beside metadata; one without a value only keeps its key free.
using MetadataItems = std::vector<std::pair<std::string, std::optional<Value>>>;

/// Returns the item that names the class of a tensorclass, and of any other tensordict none.
MetadataItems class_of(const TensorDictBase& td);

/// Checks what metadata must say and its readers rely on.
///
/// Errors  c10::NotImplementedError: as consolidated_metadata(); a nested tensordict at the root
///         under the key of an item; a storage that does not end behind its last leaf.
///         c10::ValueError: a pickle of more than 64 MiB.
at::Tensor write_metadata(const TensorDictBase& consolidated, const MetadataItems& items);

/// Returns int64[1], which says how many bytes come next. One to be received into says -1 until then:
/// where nothing arrives although a message does, no size is made of it.
at::Tensor size_message(std::int64_t bytes = -1);

/// What travels, in this order.
struct ObjectMessage {
  at::Tensor size = {};
  at::Tensor metadata = {};
  at::Tensor storage = {};
};

/// Of a tensordict that is not consolidated only the storage and its description are made, and no
/// views.
///
/// Errors  as write_metadata() and consolidate().
ObjectMessage object_message(const TensorDictBase& td, const MetadataItems& items);

/// Reads metadata from another process.
///
/// Errors  c10::ValueError: as unpickle_value().
Value read_metadata(const at::Tensor& pickle);

/// Checks a size that rank `group_rank` announced.
///
/// Errors  c10::ValueError: metadata has at most 64 MiB.
void check_metadata_bytes(std::int64_t bytes, int group_rank);

/// Returns the bytes of the storage that metadata of rank `group_rank` describes. Called before the
/// storage is made, which would otherwise be as large as anybody says.
///
/// Errors  c10::ValueError: it does not end behind its last leaf.
std::int64_t storage_bytes(const Value& metadata, int group_rank);

/// Checks that the storage of rank `group_rank` can be received where `device` says, or else where
/// the storage is.
///
/// Errors  c10::ValueError: metadata names no device. c10::NotImplementedError: it is not the CPU.
void check_storage_device(const Value& metadata,
                          const std::optional<at::Device>& device,
                          int group_rank);

/// Makes a uint8 tensor for what rank `group_rank` announced. What a storage takes may be anything;
/// the allocator refuses what no process can have.
///
/// Errors  c10::ValueError: it refuses.
at::Tensor allocate(std::int64_t bytes, const char* what, int group_rank);

/// Builds the tensordict that metadata of rank `group_rank` describes, with the tensorclass that it
/// names.
///
/// Errors  c10::ValueError: as rebuild(); the name of a class without a module.
///         c10::NotImplementedError: a tensorclass that holds a lazy stack.
AnyTensorDict build(const Value& metadata, const at::Tensor& storage, int group_rank);

}  // namespace tdref
