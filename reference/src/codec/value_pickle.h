// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include "codec/limits.h"
#include "codec/pickle_object.h"
#include "codec/pickle_writer.h"

namespace tdref {

/// Copies a literal out of a pickle; sharing is lost. The item `cls` of a dict may be a class, which
/// is named and not looked for.
///
/// Errors  c10::ValueError: an object that is not a literal, too deep, or too large for its
///         message.
Value to_value(const PickledObjects& objects, ObjectId id, CopyBudget& budget);

/// Copies the literal that a whole pickle is.
Value to_value(const PickledObjects& objects);

void write_value(PickleWriter& writer, const Value& value);

}  // namespace tdref
