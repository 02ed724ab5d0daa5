// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <optional>
#include <string>

namespace tdref {

struct MemmapOptions {
  /// The folder to write to, made if it is not there. Without one the files have no names, and go
  /// with the last tensor that maps them.
  std::optional<std::string> prefix = std::nullopt;
  /// Whether files that are in the folder already may be replaced.
  bool existsok = true;
};

/// Writes every leaf to a file of its own, and returns a locked tensordict, on the CPU, whose leaves
/// map these files: what is written into them reaches the files, and whoever else maps them. A file
/// that is replaced stays as it was for whoever maps it. The result holds what load_memmap() reads.
///
/// Wire    below the prefix, for each leaf KEY.memmap, its elements in row-major order and nothing
///         else, and no file for a leaf without elements; for each nested tensordict a folder KEY.
///         Characters of keys that file systems have no names with are written as %XX, the empty key
///         as %. Each folder has a meta.json, an object with `_type` and `_class`, the class. Of a
///         TensorDict: {key: {'device', 'shape', 'dtype', 'is_nested'}} of a leaf and {key:
///         {'type'}} of what has a folder, in their order, `shape`, the batch size, `device`, and
///         `_names` if there are any. Of a lazy stack: `stack_dim` and `stack_dim_name`; its members
///         are the folders 0, 1 and so on. Of a tensorclass: nothing else; its contents are the
///         folder _tensordict. Of non-tensor data: `data`; what JSON has no form for is pickled,
///         in other.pickle, and in pickle.pkl if it is a stack.
/// Errors  before anything is written: c10::NotImplementedError: a leaf that is not strided or has
///         no data (sparse, jagged, quantized, meta); the keys `shape`, `device` and `_type`, which
///         meta.json uses itself; two entries, or an entry and meta.json, that need one name; a
///         prefix that ends in .tdz, which tensordict writes as one file. c10::ValueError: it nests
///         deeper than load_memmap() reads; a link in the place of a file or a folder; a folder with
///         more members than a lazy stack has. c10::Error: with `existsok` false, a file that is
///         there already. OSError: the system refuses to write.
/// Source  tensordict 0.15.3 TensorDictBase.memmap
AnyTensorDict memmap(const TensorDictBase& td, const MemmapOptions& options = {});

struct LoadMemmapOptions {
  /// "r": what is written into the leaves stays in this process. "r+": it reaches the files. Without
  /// one, each file is opened for both if this process may write it.
  std::optional<std::string> mode = std::nullopt;
};

/// Opens a folder that memmap() wrote; nothing is read of a leaf before its elements are. The result
/// is not locked. Keys stand in the order of meta.json.
///
/// The folder may come from another process: nothing in it is executed, and nothing outside of it
/// is opened. Files are also found under the names that older versions of tensordict gave them.
///
/// Errors  c10::ValueError, with the name of the file: a meta.json that is no JSON, is of a later
///         format, lacks something or describes something else than a TensorDict, a lazy stack, a
///         tensorclass or non-tensor data; a link; a leaf whose file is not there or is too short
///         for its shape; a pickle of something else than a literal; folders that nest deeper than
///         500 levels; another mode. OSError: the system refuses to open or map a file.
/// Source  tensordict 0.15.3 TensorDictBase.load_memmap
AnyTensorDict load_memmap(const std::string& prefix, const LoadMemmapOptions& options = {});

}  // namespace tdref
