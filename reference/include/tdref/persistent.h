// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict_base.h>

#include <memory>
#include <string>

namespace tdref {

class TensorDict;

/// Refers to the entries of an HDF5 file, which are read when it is opened and never written.
///
/// A copy refers to the same file. Its pickle holds the name of the file, so that a rank on the
/// same file system opens it too.
class PersistentTensorDict final : public TensorDictBase {
 public:
  struct Place {
    std::string filename;
    /// The path of the group within the file.
    std::string group = "/";

    bool operator==(const Place&) const = default;
  };

  /// Opens a group of a file for reading. Its groups become nested tensordicts of the same batch
  /// size, its entries stand in the order of their names. Numbers are leaves, text and the opaque
  /// data that h5py makes of bytes, bool, int and float are non-tensor data. Text is a str if
  /// tensordict wrote it, and bytes otherwise.
  ///
  /// Errors  c10::ValueError: not a regular HDF5 file that can be read, no such group, data of
  ///         another type, a link out of the file, more bytes than such a file can hold, a shape
  ///         that does not begin with the batch size.
  PersistentTensorDict(Place place, Shape batch_size);

  /// As to_h5().
  static PersistentTensorDict from_dict(const TensorDictBase& td, const std::string& filename);

  const Place& place() const { return place_; }
  const TensorDict& contents() const { return *contents_; }

  void lock() override { set_locked(true); }
  void unlock() override { set_locked(false); }

 private:
  friend PersistentTensorDict from_h5(const std::string& filename);

  PersistentTensorDict(Place place, Shape batch_size, const TensorDict& contents);

  Place place_;
  std::shared_ptr<const TensorDict> contents_;
};

/// Writes a tensordict into a new file, in the place of an old one, and opens it with the batch size
/// of `td`. The file has neither names, devices, classes nor the batch sizes of nested tensordicts:
/// a tensorclass becomes a group, and a lazy stack the group of its stacked leaves.
///
/// Wire    each leaf as a dataset under its key, each nested tensordict as a group, as h5py writes
///         them: a bool as an enumeration, a complex number as a pair. A str as text of variable
///         length with the attribute `__tensordict_str__`; bytes, bool, int and float as opaque
///         data with their NumPy type as the tag; a stack as an array of such elements with the
///         attribute `__tensordict_stack__`, its shape.
/// Errors  before anything is written, c10::NotImplementedError: a leaf that HDF5 has no type for
///         (bfloat16, float8, complex32) or that is not strided and on the CPU; other non-tensor
///         data, or a stack of several types; a str with a null character, or bytes that end in one;
///         a key that is empty, `.`, or has a `/` or a null character. c10::Error: a lazy stack
///         whose members cannot be stacked. c10::ValueError: it nests deeper than 500 levels; the
///         file cannot be made.
/// Source  tensordict 0.15.3 TensorDictBase.to_h5
PersistentTensorDict to_h5(const TensorDictBase& td, const std::string& filename);

/// Opens a file for reading, with the largest batch sizes that the shapes in each group allow.
///
/// Errors  as PersistentTensorDict.
/// Source  tensordict 0.15.3 TensorDictBase.from_h5
PersistentTensorDict from_h5(const std::string& filename);

}  // namespace tdref
