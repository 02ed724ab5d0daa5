// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>

namespace tdref {

/// Reads a group of an HDF5 file, in the order of the names; its groups become nested tensordicts
/// with the same batch size.
///
/// The file may come from another process: links out of it are refused, and so is what is too large
/// or too deep (codec/limits.h).
///
/// Errors  name the file. c10::ValueError: as PersistentTensorDict.
TensorDict read_hdf5(const std::string& filename,
                     const std::string& group,
                     const Shape& batch_size);

/// Writes a new HDF5 file with a dataset for each leaf and a group for each nested TensorDict.
///
/// Errors  as PersistentTensorDict::from_dict().
void write_hdf5(const std::string& filename, const TensorDict& td);

}  // namespace tdref
