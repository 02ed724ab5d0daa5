// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/tensordict.h>
#include <tdref/value.h>

namespace tdref {

/// As rebuild(), but reads nothing of the storage, whose contents may still have to come: once they
/// are there, check_rows() says whether they can be those of the jagged tensors.
AnyTensorDict rebuild_unread(const Value& metadata, const at::Tensor& storage);

}  // namespace tdref
