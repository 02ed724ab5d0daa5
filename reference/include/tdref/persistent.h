// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict_base.h>

#include <memory>
#include <string>

namespace tdref {

class TensorDict;

/// Refers to the tensors of an HDF5 file, which are read when it is opened and never written.
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

  /// Opens a group of a file for reading.
  ///
  /// Errors  c10::ValueError: not a regular HDF5 file that can be read, no such group, data that is
  ///         no tensor, more bytes than such a file can hold, a shape that does not begin with the
  ///         batch size.
  PersistentTensorDict(Place place, Shape batch_size);

  /// Writes the leaves into a new file, each as a dataset under its key path, and opens it.
  ///
  /// Errors  c10::NotImplementedError: an entry that is neither a tensor that HDF5 has a type for
  ///         nor a TensorDict. c10::ValueError: the file cannot be made.
  /// Source  tensordict 0.15.3 PersistentTensorDict.from_dict
  static PersistentTensorDict from_dict(const TensorDict& td, const std::string& filename);

  const Place& place() const { return place_; }
  const TensorDict& contents() const { return *contents_; }

  void lock() override { set_locked(true); }
  void unlock() override { set_locked(false); }

 private:
  Place place_;
  std::shared_ptr<const TensorDict> contents_;
};

}  // namespace tdref
