// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/layout.h"

#include <algorithm>
#include <stdexcept>

#include "engine/value/jagged.h"
#include "values/text.h"

namespace tdconf {

std::vector<Slot> storage_layout(const Tree& tree) {
  constexpr std::size_t kAlignment = 8;
  std::vector<Slot> layout;
  std::size_t offset = 0;
  for_each_tensor(with_jagged_parts(tree), [&](const Path& path, const TensorLeaf& leaf) {
    const std::size_t size = leaf.size_bytes();
    const std::size_t padding = (kAlignment - size % kAlignment) % kAlignment;
    layout.push_back({path, offset, size, padding});
    offset += size + padding;
  });
  return layout;
}

std::size_t storage_size(const std::vector<Slot>& layout) {
  if (layout.empty()) return 0;
  const Slot& last = layout.back();
  return last.offset + last.size + last.padding;
}

Bytes storage_bytes(const Tree& layout_of, const Tree& contents) {
  const std::vector<Slot> layout = storage_layout(layout_of);
  if (layout.size() != storage_layout(contents).size()) {
    throw std::invalid_argument("the storage and its contents differ in their number of leaves");
  }
  Bytes storage(storage_size(layout), 0);
  const Tree parts = with_jagged_parts(contents);
  for (const Slot& slot : layout) {
    const TensorLeaf* leaf = find_tensor(parts, slot.path);
    if (leaf == nullptr || leaf->size_bytes() != slot.size) {
      throw std::invalid_argument(
          concat("the storage and its contents differ at `", dotted(slot.path), "`"));
    }
    const Bytes bytes = leaf->bytes();
    std::ranges::copy(bytes, storage.begin() + static_cast<std::ptrdiff_t>(slot.offset));
  }
  return storage;
}

}  // namespace tdconf
