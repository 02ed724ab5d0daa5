// SPDX-License-Identifier: BSD-3-Clause
#include "codec/pack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <cstring>

#include "codec/block.h"
#include "codec/elements.h"
#include "codec/observer.h"
#include "tree/walk.h"

namespace tdref {

namespace {

// One copy of all leaves that lie in memory as they travel: a call of libtorch for each would cost
// more than its bytes.
void copy_into(const at::Tensor& storage, const Span& span, const at::Tensor& tensor) {
  const auto nbytes = span.stop - span.pad - span.start;
  if (storage.is_cpu() && tensor.is_cpu() && lies_as_it_travels(tensor)) {
    auto* place = storage.mutable_data_ptr<std::uint8_t>() + span.start;
    if (nbytes > 0) {
      std::memcpy(place, tensor.const_data_ptr(), static_cast<std::size_t>(nbytes));
    }
    std::memset(place + nbytes, 0, static_cast<std::size_t>(span.pad));
    return;
  }
  storage.narrow(0, span.start, nbytes).copy_(row_major(tensor).view({-1}).view(at::kByte));
  storage.narrow(0, span.start + nbytes, span.pad).zero_();
}

}  // namespace

void pack_into(const at::Tensor& storage, const TensorDictBase& td, const Layout& layout) {
  const at::NoGradGuard storage_has_no_history;
  auto span = layout.spans.begin();
  for_each_tensor(
      td, [&](const KeyPath&, const at::Tensor& tensor) { copy_into(storage, *span++, tensor); });
  if (Observer* observer = current_observer()) {
    observer->consolidated(static_cast<std::size_t>(layout.total_bytes));
  }
}

at::Tensor pack(const TensorDictBase& td, const Layout& layout) {
  const at::Device device = td.device().value_or(at::kCPU);
  auto storage = device.is_cpu()
                     ? new_block(layout.total_bytes)
                     : at::empty({layout.total_bytes}, at::device(device).dtype(at::kByte));
  pack_into(storage, td, layout);
  return storage;
}

}  // namespace tdref
