// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5.h"

#include <ATen/ops/from_blob.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "codec/child_process.h"
#include "codec/hdf5_reader.h"
#include "codec/hdf5_types.h"
#include "codec/limits.h"

namespace tdref {
namespace {

// HDF5 itself takes this much, whatever the file.
constexpr std::size_t kOwnBytes = std::size_t{1} << 27;
constexpr std::size_t kBytesPerSecond = std::size_t{1} << 24;
constexpr unsigned int kLeastSeconds = 2;

std::size_t size_of(const std::string& filename) {
  std::error_code none;
  const bool is_there =
      filename.find('\0') == std::string::npos && std::filesystem::exists(filename, none);
  TORCH_CHECK_VALUE(is_there, "there is no such file");
  // A pipe would never open.
  const bool is_regular = std::filesystem::is_regular_file(filename, none);
  TORCH_CHECK_VALUE(is_regular, "'", filename, "' is not a regular file");
  return std::filesystem::file_size(filename, none);
}

ChildLimits limits_for(std::size_t file_bytes) {
  return {.memory_bytes = kOwnBytes + 3 * CopyBudget::most(file_bytes),
          .cpu_seconds = kLeastSeconds + static_cast<unsigned int>(file_bytes / kBytesPerSecond)};
}

// Views the storage that the answer begins with, and keeps the answer.
at::Tensor storage_within(std::shared_ptr<std::string> answer, std::size_t bytes) {
  char* const begin = answer->data();
  return at::from_blob(
      begin, {static_cast<std::int64_t>(bytes)}, [answer = std::move(answer)](void*) {}, at::kByte);
}

// The answer comes from a process in which the file may have broken anything.
TensorDict rebuild_from(std::string answer) {
  const auto kept = std::make_shared<std::string>(std::move(answer));
  std::string_view metadata = *kept;
  std::uint64_t storage_bytes = 0;
  TORCH_CHECK_VALUE(metadata.size() >= sizeof(storage_bytes), "HDF5 cannot read it");
  metadata.remove_suffix(sizeof(storage_bytes));
  std::memcpy(&storage_bytes, kept->data() + metadata.size(), sizeof(storage_bytes));
  TORCH_CHECK_VALUE(storage_bytes <= metadata.size(), "HDF5 cannot read it");
  metadata.remove_prefix(storage_bytes);
  auto td = rebuild(unpickle_value(metadata), storage_within(kept, storage_bytes));
  td->unlock();
  const auto* items = td->as<TensorDict>();
  TORCH_CHECK_VALUE(items != nullptr, "HDF5 cannot read it");
  return *items;
}

}  // namespace

TensorDict read_hdf5(const std::string& filename,
                     const std::string& group,
                     const std::optional<Shape>& batch_size) {
  try {
    const auto file_bytes = size_of(filename);
    const Hdf5Session session;
    return rebuild_from(call_in_child(limits_for(file_bytes), [&] {
      return read_hdf5_group({filename.c_str(), group.c_str(), file_bytes}, batch_size);
    }));
  } catch (c10::Error& error) {
    error.add_context("HDF5 file '" + filename + "'");
    throw;
  }
}

}  // namespace tdref
