// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>
#include <tdref/tensordict.h>

#include <string>

namespace tdref {

/// What tensordict says of a dataset beside its data.
enum class Hdf5Mark { kNone, kText, kStack };

/// Writes a new dataset; `elements` are in row-major order, of type `type`.
void write_hdf5_dataset(hid_t group,
                        const std::string& key,
                        hid_t type,
                        c10::IntArrayRef shape,
                        const void* elements,
                        Hdf5Mark mark);

/// Returns how links are made: their names are UTF-8.
hid_t hdf5_link_properties();

}  // namespace tdref
