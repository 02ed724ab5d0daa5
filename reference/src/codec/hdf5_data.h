// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>
#include <tdref/tensordict.h>

#include <optional>
#include <string>

#include "codec/limits.h"

namespace tdref {

/// Holds what a dataset has in the place of numbers: one datum, or lists of them, nested as deep as
/// it has dimensions.
struct Hdf5Data {
  Value data;
  Shape shape;
  /// Whether tensordict wrote it as a stack.
  bool is_stack = false;
};

/// Returns nothing for a type that tensordict writes for no data.
std::optional<Hdf5Data> read_hdf5_data(hid_t dataset,
                                       hid_t stored,
                                       const Shape& shape,
                                       CopyBudget& budget);

/// Errors  c10::NotImplementedError: data that an HDF5 file cannot give back: other than str, bytes,
///         bool, int or float; bytes that end in zeros; a str with one; a stack of several types.
void check_hdf5_data(const std::string& key, const NonTensor& data);

/// Writes what check_hdf5_data() has let pass.
void write_hdf5_data(hid_t group, const std::string& key, const NonTensor& data);

}  // namespace tdref
