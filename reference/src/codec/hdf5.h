// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <optional>
#include <string>

namespace tdref {

/// Reads a group of an HDF5 file, in the order of the names; its groups become nested tensordicts.
/// All have the batch size, or, without one, the largest that the shapes in them allow.
///
/// The file may come from another process: links out of it are refused, and so is what is too large
/// or too deep (codec/limits.h). Another process reads it, since HDF5 breaks on some damaged files.
///
/// Errors  name the file. c10::ValueError: as PersistentTensorDict.
TensorDict read_hdf5(const std::string& filename,
                     const std::string& group,
                     const std::optional<Shape>& batch_size);

/// Writes a new HDF5 file with a dataset for each leaf and a group for each nested tensordict.
///
/// Errors  as to_h5().
void write_hdf5(const std::string& filename, const TensorDictBase& td);

}  // namespace tdref
