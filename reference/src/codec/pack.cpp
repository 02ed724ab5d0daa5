// SPDX-License-Identifier: BSD-3-Clause
#include "codec/pack.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "codec/elements.h"
#include "codec/observer.h"
#include "tree/walk.h"

namespace tdref {

at::Tensor pack(const TensorDictBase& td, const Layout& layout) {
  const at::NoGradGuard storage_has_no_history;
  const auto device = td.device().value_or(at::kCPU);
  const auto storage = at::empty({layout.total_bytes}, at::device(device).dtype(at::kByte));
  auto span = layout.spans.begin();
  for_each_tensor(td, [&](const KeyPath&, const at::Tensor& tensor) {
    const auto nbytes = span->stop - span->pad - span->start;
    storage.narrow(0, span->start, nbytes).copy_(row_major(tensor).view({-1}).view(at::kByte));
    storage.narrow(0, span->start + nbytes, span->pad).zero_();
    ++span;
  });
  if (Observer* observer = current_observer()) {
    observer->consolidated(storage.nbytes());
  }
  return storage;
}

}  // namespace tdref
