// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>

namespace tdref {

struct ConsolidateOptions {
  /// The file that becomes the storage; required.
  std::string filename;
};

/// Copies all leaves into a new file and returns a locked tensordict of views into it: what is
/// written into the leaves reaches the file, and whoever else maps it. A tensordict that is
/// consolidated already is copied too.
///
/// A file of this name is replaced, a link to one keeps pointing at the new one, and whoever maps
/// the old one keeps what it had.
///
/// Order   as consolidate().
/// Wire    the storage of consolidate(); its metadata as Python's json writes it, where tuples are
///         lists and a class is its str(); the number of bytes of the metadata, int64,
///         little-endian.
/// Errors  before anything is written: those of consolidate() and consolidated_metadata();
///         c10::TypeError: non-tensor data that JSON has no form for (bytes, or a dict whose keys
///         are not all str); c10::ValueError: it nests deeper than from_consolidated() reads.
///         OSError: the file cannot be written.
/// Source  tensordict 0.15.3 TensorDictBase.consolidate(filename), which writes into an old file
///         that is not larger, and nothing for a tensordict that is consolidated
AnyTensorDict consolidate(const TensorDictBase& td, const ConsolidateOptions& options);

/// Opens what consolidate() wrote, as views into the file; what is written into the leaves stays in
/// this process. The result is consolidated, and locked as everything consolidated here. A root
/// that was a tensorclass is a TensorDict.
///
/// Errors  OSError: the file cannot be opened or mapped. c10::ValueError, with the name of the file:
///         it is not a regular file, ends early, holds metadata that rebuild() refuses, or more or
///         fewer bytes than the leaves take.
/// Source  tensordict 0.15.3 TensorDictBase.from_consolidated
AnyTensorDict from_consolidated(const std::string& filename);

}  // namespace tdref
