// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/core/ScalarType.h>
#include <tdref/tensordict.h>

#include <string>

#include "codec/layout.h"

namespace tdref {

/// Holds what consolidated metadata says of one tensor.
struct LeafMetadata {
  at::ScalarType dtype = at::kByte;
  Shape shape;
  Span span;
};

/// Reads (dtype, shape, start, stop, pad), which stands under the key of a leaf or of a part of a
/// jagged one; behind the pad of offsets stands ragged_idx, which is not read. The metadata comes
/// from another process.
///
/// Errors  c10::ValueError: another form, an unknown dtype, or bytes that begin before the storage,
///         are too few for the shape, are not aligned to its elements or have another padding. That
///         they end within the storage is left to the caller, who may not have it yet.
LeafMetadata read_leaf(const std::string& key, const Value& value);

}  // namespace tdref
