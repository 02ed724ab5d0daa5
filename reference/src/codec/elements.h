// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/strides.h>

#include <cstring>

#include "codec/observer.h"

namespace tdref {

/// Whether the memory of a tensor is its elements as they travel: strided, in row-major order, and
/// neither conjugated nor negated only on the way.
inline bool lies_as_it_travels(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_contiguous() && !tensor.is_conj() &&
         !tensor.is_neg();
}

/// Writes the elements of `from` into `to`, which has its shape and dtype; they may lie in any way.
inline void copy_elements(const at::Tensor& to, const at::Tensor& from) {
  const bool is_one_block = to.is_cpu() && from.is_cpu() && to.dtype() == from.dtype() &&
                            to.sizes() == from.sizes() && lies_as_it_travels(to) &&
                            lies_as_it_travels(from);
  if (!is_one_block) {
    to.copy_(from);
  } else if (const auto nbytes = from.nbytes(); nbytes > 0) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), nbytes);
    note_copied(nbytes);
    to.unsafeGetTensorImpl()->bump_version();
  }
}

/// Returns the elements as they travel: in row-major order, conjugated and negated where the tensor
/// only says so. Shares the memory of a tensor that has them in this form, and has no history.
inline at::Tensor row_major(const at::Tensor& tensor) {
  // Views cost more than a small message does.
  if (lies_as_it_travels(tensor) && !tensor.requires_grad() &&
      tensor.strides() == c10::contiguous_strides(tensor.sizes())) {
    return tensor;
  }
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
