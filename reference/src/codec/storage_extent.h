// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <cstdint>

namespace tdref {

/// Returns the byte behind the last leaf that metadata from another process describes, so that a
/// storage which is too small for it is refused before it is made.
///
/// Errors  c10::ValueError: metadata of another form.
std::int64_t storage_extent(const Value& metadata);

}  // namespace tdref
