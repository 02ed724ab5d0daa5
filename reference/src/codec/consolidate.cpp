// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>

#include "codec/layout.h"
#include "codec/pack.h"
#include "tree/walk.h"

namespace tdref {

TensorDict consolidate(const TensorDict& td) {
  if (td.is_consolidated()) {
    return td;
  }
  const auto layout = lay_out(td);
  check_aligned(td, layout);
  const auto storage = pack(td, layout);
  auto span = layout.spans.begin();
  TensorDict result = map_leaves(td, [&](const Leaf& leaf) {
    return view_span(storage, *span++, leaf.tensor.scalar_type(), leaf.tensor.sizes());
  });
  result.set_consolidated({storage, td.is_locked()});
  return result;
}

}  // namespace tdref
