// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/value/tree.h"

namespace tdconf {

/// Where one tensor lies in a consolidated storage, all in bytes.
struct Slot {
  Path path;
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t padding = 0;
};

/// Places the tensors one after another, in insertion order, depth first, each followed by
/// `-size mod 8` bytes of padding. A jagged tensor is its `values`, then its `offsets`.
std::vector<Slot> storage_layout(const Tree& tree);

/// Returns the number of bytes up to the end of the last padding.
std::size_t storage_size(const std::vector<Slot>& layout);

/// Returns the storage with zeros as padding: the layout of `layout_of`, the contents of `contents`.
///
/// Errors  std::invalid_argument: the two differ in keys or sizes.
Bytes storage_bytes(const Tree& layout_of, const Tree& contents);

}  // namespace tdconf
