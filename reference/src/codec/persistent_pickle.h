// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/persistent.h>

#include "codec/pickle_object.h"
#include "codec/pickle_writer.h"

namespace tdref {

/// Whether an object of a pickle is a persistent tensordict.
bool is_persistent(const PickledObjects& objects, ObjectId id);

/// Opens the file that the pickle names.
///
/// Errors  c10::ValueError: a pickle of another form, and those of PersistentTensorDict.
PersistentTensorDict read_persistent(const PickledObjects& objects, ObjectId id);

/// Writes the name of the file and of the group, no tensors.
///
/// Wire    PersistentTensorDict.__new__(PersistentTensorDict), then its attributes as the state.
void write_persistent(PickleWriter& writer, const PersistentTensorDict& td);

}  // namespace tdref
