// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <tdref/consolidate.h>

#include "codec/layout.h"
#include "tree/walk.h"

namespace tdref {

TensorDict consolidate(const TensorDict& td) {
  if (td.is_consolidated()) {
    return td;
  }
  const auto layout = lay_out(td);
  const auto device = td.device().value_or(at::kCPU);
  const auto storage = at::empty({layout.total_bytes}, at::device(device).dtype(at::kByte));

  auto span = layout.spans.begin();
  TensorDict result = map_leaves(td, [&](const Leaf& leaf) {
    const at::NoGradGuard storage_has_no_history;
    const auto view = view_span(storage, *span, leaf.tensor.scalar_type(), leaf.tensor.sizes());
    view.copy_(leaf.tensor);
    storage.narrow(0, span->stop - span->pad, span->pad).zero_();
    ++span;
    return view;
  });
  result.set_consolidated({storage, td.is_locked()});
  return result;
}

}  // namespace tdref
