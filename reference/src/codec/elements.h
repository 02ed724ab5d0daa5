// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

namespace tdref {

/// Returns the elements as they travel: in row-major order, conjugated and negated where the tensor
/// only says so. Shares the memory of a tensor that has them in this form, and has no history.
inline at::Tensor row_major(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg().contiguous();
}

}  // namespace tdref
