// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/core/ScalarType.h>
#include <hdf5.h>
#include <tdref/value.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tdref {

/// Owns an HDF5 object.
class Hdf5Handle {
 public:
  /// Errors  c10::ValueError: HDF5 gave no object.
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what);
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close_(id_); }

  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Lets one thread at a time use HDF5, which knows no threads, and keeps it from printing its
/// errors, which become libtorch's.
class Hdf5Session {
 public:
  Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;
  ~Hdf5Session();

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Marks a text that tensordict wrote, which it would otherwise take for bytes.
inline constexpr const char* kHdf5TextMark = "__tensordict_str__";
/// Marks the elements of a stack of non-tensor data, and has its shape.
inline constexpr const char* kHdf5StackMark = "__tensordict_stack__";

/// Returns the type in memory that h5py writes for the dtype, if it has one. Complex numbers are
/// pairs, booleans an enumeration.
std::optional<hid_t> hdf5_type(at::ScalarType dtype);

/// Finds the dtype of stored numbers by their size and sign, in any byte order, which HDF5 converts.
std::optional<at::ScalarType> dtype_of_hdf5(hid_t stored);

/// Returns text of any length, in UTF-8.
hid_t hdf5_text_type();
/// Returns the type of flags.
hid_t hdf5_bool_type();

/// How h5py stores what HDF5 has no type for: as bytes that it does not look into, beside their
/// type in NumPy.
struct OpaqueForm {
  std::string tag;
  std::string bytes;
};

/// Returns nothing for data that is no bytes, bool, int or float.
std::optional<OpaqueForm> to_opaque(const Value& data);

/// Reads what to_opaque() writes, from another process. Returns nothing for another tag or size.
std::optional<Value> from_opaque(std::string_view tag, std::string_view bytes);

}  // namespace tdref
