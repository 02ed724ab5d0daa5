// SPDX-License-Identifier: BSD-3-Clause
#include "codec/layout.h"

#include <c10/util/accumulate.h>

#include "tree/walk.h"

namespace tdref {
namespace {

constexpr std::int64_t kAlignment = 8;

void check_has_data(const KeyPath& key, const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && !tensor.is_nested() &&
                                  !tensor.is_quantized() && !tensor.is_meta(),
                              "leaf ",
                              to_string(key),
                              " cannot be consolidated: it has layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device(),
                              " and dtype ",
                              tensor.dtype(),
                              "; allowed are strided tensors with data that are not quantized");
}

}  // namespace

Span span_of(std::int64_t start, std::int64_t nbytes) {
  const auto pad = (kAlignment - nbytes % kAlignment) % kAlignment;
  return {start, start + nbytes + pad, pad};
}

Layout lay_out(const TensorDictBase& td) {
  Layout layout;
  for_each_tensor(td, [&](const KeyPath& key, const at::Tensor& tensor) {
    check_has_data(key, tensor);
    const auto nbytes = tensor.numel() * static_cast<std::int64_t>(tensor.itemsize());
    layout.spans.push_back(span_of(layout.total_bytes, nbytes));
    layout.total_bytes = layout.spans.back().stop;
  });
  return layout;
}

void check_aligned(const TensorDictBase& td, const Layout& layout) {
  auto span = layout.spans.begin();
  for_each_tensor(td, [&](const KeyPath& key, const at::Tensor& tensor) {
    const auto start = (span++)->start;
    TORCH_CHECK_NOT_IMPLEMENTED(start % static_cast<std::int64_t>(tensor.itemsize()) == 0,
                                "leaf ",
                                to_string(key),
                                " of dtype ",
                                tensor.dtype(),
                                " cannot be consolidated: it would start at byte ",
                                start,
                                ", which is not a multiple of its element size; insert it earlier");
  });
}

std::int64_t start_in(const at::Tensor& storage, const at::Tensor& view) {
  return view.storage_offset() * static_cast<std::int64_t>(view.itemsize()) -
         storage.storage_offset();
}

at::Tensor view_span(const at::Tensor& storage,
                     const Span& span,
                     at::ScalarType dtype,
                     c10::IntArrayRef shape) {
  const auto itemsize = static_cast<std::int64_t>(c10::elementSize(dtype));
  const auto start =
      storage.storage_offset() * static_cast<std::int64_t>(storage.itemsize()) + span.start;
  TORCH_INTERNAL_ASSERT(
      start % itemsize == 0 &&
          c10::multiply_integers(shape) * itemsize == span.stop - span.pad - span.start &&
          span.stop - span.pad <= static_cast<std::int64_t>(storage.nbytes()),
      "a span that does not hold its tensor");
  // As at::alias makes its result: a chain of views of each leaf would cost more than its bytes.
  auto view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW,
                                                       c10::Storage(storage.storage()),
                                                       storage.key_set(),
                                                       c10::scalarTypeToTypeMeta(dtype));
  auto* impl = view.unsafeGetTensorImpl();
  impl->set_storage_offset(start / itemsize);
  impl->set_sizes_contiguous(shape);
  impl->set_version_counter(storage.unsafeGetTensorImpl()->version_counter());
  return view;
}

}  // namespace tdref
