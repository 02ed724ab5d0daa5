// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/observe.h>

namespace tdref {

/// Returns who sees what this thread does, or null.
Observer* current_observer();

/// Tells them of elements that were copied by no call of libtorch.
void note_copied(std::size_t nbytes);

}  // namespace tdref
