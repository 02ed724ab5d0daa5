// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/persistent.h>

#include "codec/pickle_object.h"
#include "codec/pickle_writer.h"

namespace tdref {

// The pickle of a persistent tensordict holds the name of its file and of its group, no tensors:
//   PersistentTensorDict.__new__(PersistentTensorDict), then its attributes as the state

bool is_persistent(const PickledObjects& objects, ObjectId id);

/// Opens the file that the pickle names.
///
/// Errors  c10::ValueError: a pickle of another form, and those of PersistentTensorDict.
PersistentTensorDict read_persistent(const PickledObjects& objects, ObjectId id);

void write_persistent(PickleWriter& writer, const PersistentTensorDict& td);

}  // namespace tdref
