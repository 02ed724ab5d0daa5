// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/strides.h>

namespace tdref {

/// Returns the elements as they travel: in row-major order, conjugated and negated where the tensor
/// only says so. Shares the memory of a tensor that has them in this form, and has no history.
inline at::Tensor row_major(const at::Tensor& tensor) {
  const auto elements = tensor.detach().resolve_conj().resolve_neg().contiguous();
  // One element, or none, counts as contiguous with any strides, which no view of bytes has.
  return elements.as_strided(
      elements.sizes(), c10::contiguous_strides(elements.sizes()), elements.storage_offset());
}

/// Checks that a tensor has elements that can be copied as bytes. `what` begins the error: "leaf 'a'
/// cannot be transferred".
///
/// Errors  c10::NotImplementedError: it has none.
template <typename... What>
void check_has_bytes(const at::Tensor& tensor, const What&... what) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
                                  !tensor.is_nested() && !tensor.is_quantized(),
                              what...,
                              ": it has layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device(),
                              " and dtype ",
                              tensor.dtype(),
                              "; allowed are strided tensors on the CPU that are not quantized");
}

}  // namespace tdref
