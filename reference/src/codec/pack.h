// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include "codec/layout.h"

namespace tdref {

/// Copies all leaves into a new storage, zeros in the padding.
///
/// Wire    as consolidate(); a leaf need not be aligned to its elements.
/// Shapes  the result is uint8[layout.total_bytes], on the device of `td`.
at::Tensor pack(const TensorDictBase& td, const Layout& layout);

/// As pack(), at the front of `storage`, which is uint8[at least layout.total_bytes], contiguous.
void pack_into(const at::Tensor& storage, const TensorDictBase& td, const Layout& layout);

}  // namespace tdref
