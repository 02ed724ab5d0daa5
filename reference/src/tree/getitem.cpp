// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/getitem.h>

#include <algorithm>

#include "tree/select.h"
#include "tree/visit.h"

namespace tdref {
namespace {

AnyTensorDict take(const TensorDictBase& td, std::int64_t dim, std::int64_t row) {
  const auto size = td.batch_size()[static_cast<std::size_t>(dim)];
  TORCH_CHECK_INDEX(-size <= row && row < size,
                    "index ",
                    row,
                    " is out of bounds for batch dimension ",
                    dim,
                    " of size ",
                    size);
  return select(td, dim, row < 0 ? row + size : row);
}

AnyTensorDict take(const TensorDictBase& td, std::int64_t dim, const Slice& slice) {
  const auto size = td.batch_size()[static_cast<std::size_t>(dim)];
  const auto place = [size](std::int64_t end) {
    return std::clamp(end < 0 ? end + size : end, std::int64_t{0}, size);
  };
  const auto start = place(slice.start);
  return narrow(td, dim, start, std::max(place(slice.stop) - start, std::int64_t{0}));
}

}  // namespace

AnyTensorDict getitem(const TensorDictBase& td, const std::vector<Index>& index) {
  TORCH_CHECK_INDEX(index.size() <= td.batch_size().size(),
                    "too many indices: ",
                    index.size(),
                    " for the batch size ",
                    c10::IntArrayRef(td.batch_size()));
  AnyTensorDict part(td);
  std::int64_t dim = 0;
  for (const auto& element : index) {
    part = std::visit([&](const auto& rows) { return take(*part, dim, rows); }, element);
    // A row takes its dimension away, so that the next one has its number.
    dim += std::holds_alternative<Slice>(element) ? 1 : 0;
  }
  return part;
}

}  // namespace tdref
