// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/observe.h>

namespace tdref {

/// Returns who sees what this thread does, or null.
Observer* current_observer();

}  // namespace tdref
