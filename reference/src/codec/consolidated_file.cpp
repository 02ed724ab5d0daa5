// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/consolidated_file.h>

#include <cstring>
#include <filesystem>

#include "codec/bytes.h"
#include "codec/file.h"
#include "codec/json.h"
#include "codec/layout.h"
#include "codec/pack.h"
#include "codec/storage_extent.h"
#include "tree/walk.h"

namespace tdref {
namespace {

using MetadataSize = std::int64_t;
constexpr auto kSizeBytes = sizeof(MetadataSize);

// A link stays, and what it points at is replaced.
std::filesystem::path behind_links(const std::string& filename) {
  std::error_code none;
  const auto path = std::filesystem::canonical(filename, none);
  return none ? std::filesystem::path(filename) : path;
}

// Copies a tensordict to memory that nobody else writes into.
AnyTensorDict copy_to_memory(const TensorDictBase& td) {
  const bool was_locked = td.is_consolidated() ? td.consolidated().was_locked : td.is_locked();
  auto copy = map_tensors(td, [](const at::Tensor& tensor) { return tensor; });
  if (was_locked) {
    copy->lock();
  }
  return consolidate(*copy);
}

void write(const std::filesystem::path& path, std::string_view storage, std::string_view metadata) {
  const auto size = static_cast<MetadataSize>(metadata.size());
  NewFile file(path);
  file.write(storage);
  file.write(metadata);
  file.write({reinterpret_cast<const char*>(&size), sizeof(size)});
  file.put_in_place();
}

// Views the storage of a consolidated tensordict in another memory that holds the same bytes.
AnyTensorDict move_to(const TensorDictBase& td, const at::Tensor& storage) {
  const auto& old = td.consolidated();
  auto moved = map_tensors(td, [&](const at::Tensor& tensor) {
    const auto span = span_of(start_in(old.storage, tensor),
                              tensor.numel() * static_cast<std::int64_t>(tensor.itemsize()));
    return view_span(storage, span, tensor.scalar_type(), tensor.sizes());
  });
  moved->set_consolidated({storage, old.was_locked});
  return moved;
}

struct Parts {
  std::size_t storage_bytes;
  std::string_view metadata;
};

Parts parts_of(std::string_view file) {
  MetadataSize size = 0;
  TORCH_CHECK_VALUE(file.size() >= kSizeBytes,
                    "it has ",
                    file.size(),
                    " bytes, which is too short for a consolidated tensordict");
  std::memcpy(&size, file.data() + file.size() - kSizeBytes, kSizeBytes);
  const auto rest = file.size() - kSizeBytes;
  TORCH_CHECK_VALUE(0 <= size && static_cast<std::size_t>(size) <= rest,
                    "its last number says that ",
                    size,
                    " bytes of metadata stand before it; allowed are 0 to ",
                    rest);
  const auto storage_bytes = rest - static_cast<std::size_t>(size);
  return {storage_bytes, file.substr(storage_bytes, static_cast<std::size_t>(size))};
}

AnyTensorDict rebuild_from(const at::Tensor& file) {
  const auto [storage_bytes, text] = parts_of(as_bytes(file));
  const auto metadata = from_json(text, JsonForm::kPython);
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_VALUE(extent == static_cast<std::int64_t>(storage_bytes),
                    "its leaves take ",
                    extent,
                    " bytes, but ",
                    storage_bytes,
                    " stand before the metadata");
  return rebuild(metadata, file.narrow(0, 0, extent));
}

}  // namespace

AnyTensorDict consolidate(const TensorDictBase& td, const ConsolidateOptions& options) {
  const auto in_memory = copy_to_memory(td);
  const auto& storage = in_memory->consolidated().storage;
  const auto metadata = to_json(consolidated_metadata(*in_memory), JsonForm::kPython);
  const auto path = behind_links(options.filename);
  write(path, as_bytes(storage), metadata);
  const OpenFile file(path, OpenFile::Access::kWrite, Links::kFollow);
  return move_to(*in_memory, file.map(storage.nbytes()));
}

AnyTensorDict from_consolidated(const std::string& filename) {
  const OpenFile file(filename, OpenFile::Access::kRead, Links::kFollow);
  try {
    return rebuild_from(file.map(file.size()));
  } catch (c10::Error& error) {
    error.add_context("consolidated file '" + filename + "'");
    throw;
  }
}

}  // namespace tdref
