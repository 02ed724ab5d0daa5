// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check.h"
#include "engine/value/jagged.h"
#include "engine/value/layout.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// Compares the bytes of one slot as the tensor that they are.
std::vector<Difference> check_slot(const Slot& slot, const TensorLeaf& leaf, const Bytes& storage) {
  const auto begin = storage.begin() + static_cast<std::ptrdiff_t>(slot.offset);
  const SeenBytes seen{Bytes(begin, begin + static_cast<std::ptrdiff_t>(slot.size)), {}};
  return compare_elements(concat("the storage of ", dotted(slot.path)), leaf, seen);
}

}  // namespace

std::vector<Difference> check_storage(const ExpectedStorage& expected, const SeenBytes& seen) {
  if (!seen.bytes) {
    // Of a long storage only the digest is known; its padding is then taken to be zero.
    if (seen.equal(storage_bytes(*expected.layout_of, *expected.contents))) return {};
    return {differ(
        "", "the storage: digest", "that of its contents", seen.sha256.value_or("no bytes"))};
  }
  const std::vector<Slot> layout = storage_layout(*expected.layout_of);
  if (seen.bytes->size() < storage_size(layout)) {
    return {differ("",
                   "the storage: size",
                   concat(storage_size(layout), " bytes"),
                   concat(seen.bytes->size()))};
  }
  const Tree contents = with_jagged_parts(*expected.contents);
  std::vector<Difference> differences;
  for (const Slot& slot : layout) {
    const TensorLeaf* leaf = find_tensor(contents, slot.path);
    if (leaf == nullptr || leaf->size_bytes() != slot.size) {
      differences.push_back(differ("", "the storage: layout", dotted(slot.path), "other contents"));
      continue;
    }
    const std::vector<Difference> more = check_slot(slot, *leaf, *seen.bytes);
    differences.insert(differences.end(), more.begin(), more.end());
  }
  return differences;
}

}  // namespace tdconf
