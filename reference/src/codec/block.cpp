// SPDX-License-Identifier: BSD-3-Clause
#include "codec/block.h"

#include <ATen/ops/empty.h>
#include <sys/mman.h>

namespace tdref {
namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
// Of less, what lies on whole huge pages is too small a part.
constexpr std::int64_t kLarge = std::int64_t{4} << 20;

// Only a wish: whatever the system does with it, the memory is the same.
void ask_for_huge_pages(void* begin, std::int64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = (address + static_cast<std::uintptr_t>(bytes)) / kHugePage * kHugePage;
  if (first < end) {
    madvise(static_cast<char*>(begin) + (first - address), end - first, MADV_HUGEPAGE);
  }
}

}  // namespace

at::Tensor new_block(std::int64_t bytes) {
  auto block = at::empty({bytes}, at::kByte);
  if (bytes >= kLarge) {
    ask_for_huge_pages(block.mutable_data_ptr(), bytes);
  }
  return block;
}

}  // namespace tdref
