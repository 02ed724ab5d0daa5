// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <cstdint>

namespace tdref {

/// Returns the byte behind the last leaf that metadata from another process describes, at which its
/// storage ends: another size is refused before the storage is made.
///
/// Errors  c10::ValueError: metadata of another form, and those of read_leaf().
std::int64_t storage_extent(const Value& metadata);

}  // namespace tdref
