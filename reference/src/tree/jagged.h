// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/leaf.h>
#include <tdref/tensordict.h>

#include <string>

namespace tdref {

/// Checks that the parts of a jagged tensor go together; `name` is what messages call it.
///
/// Errors  c10::ValueError: values that are not strided or have no such ragged dimension, offsets
///         or lengths that are not whole numbers on the CPU, or are not as many as the rows need.
void check_form(const std::string& name, const Jagged& jagged);

/// Checks that the rows of a jagged tensor from another process lie within its values.
///
/// Errors  as check_form(), and c10::ValueError: rows that do not lie within the values.
void check_rows(const Jagged& jagged);
/// Checks those of each jagged tensor of a tensordict.
void check_rows(const TensorDictBase& td);

}  // namespace tdref
