// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstddef>
#include <optional>
#include <string>

namespace tdref {

struct Hdf5Place {
  const char* filename;
  const char* group;
  std::size_t file_bytes;
};

/// Reads a group with HDF5, which may break on a file that somebody else made.
///
/// Wire    the result is the elements of all leaves, as a storage; the pickled metadata that
///         rebuild() reads; the number of bytes of the storage, u64.
/// Errors  c10::ValueError: those of PersistentTensorDict, without the name of the file.
std::string read_hdf5_group(const Hdf5Place& place, const std::optional<Shape>& batch_size);

}  // namespace tdref
