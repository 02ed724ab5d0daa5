// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>

#include "codec/layout.h"
#include "codec/pack.h"
#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {

AnyTensorDict consolidate(const TensorDictBase& td) {
  if (td.is_consolidated()) {
    return AnyTensorDict(td);
  }
  const auto layout = lay_out(td);
  check_aligned(td, layout);
  const auto storage = pack(td, layout);
  auto span = layout.spans.begin();
  auto result = map_tensors(td, [&](const at::Tensor& tensor) {
    return view_span(storage, *span++, tensor.scalar_type(), tensor.sizes());
  });
  result->set_consolidated({storage, td.is_locked()});
  return result;
}

TensorDict consolidate(const TensorDict& td) {
  return *consolidate(static_cast<const TensorDictBase&>(td))->as<TensorDict>();
}

LazyStackedTensorDict consolidate(const LazyStackedTensorDict& td) {
  return *consolidate(static_cast<const TensorDictBase&>(td))->as<LazyStackedTensorDict>();
}

TensorClass consolidate(const TensorClass& td) {
  return *consolidate(static_cast<const TensorDictBase&>(td))->as<TensorClass>();
}

}  // namespace tdref
