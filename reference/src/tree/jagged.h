// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/leaf.h>

namespace tdref {

/// Checks that the rows of a jagged tensor from another process lie within its values.
///
/// Errors  c10::ValueError: offsets or lengths that are not whole numbers on the CPU, or rows that
///         do not lie within the values.
void check_rows(const Jagged& jagged);

}  // namespace tdref
