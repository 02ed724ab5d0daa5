// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <vector>

namespace tdref {

/// Says which bytes of a consolidated storage one leaf has: [start, stop), of which the last `pad`
/// are padding.
struct Span {
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t pad = 0;

  bool operator==(const Span&) const = default;
};

/// Returns the span of `nbytes` bytes from `start`, padded to a multiple of 8 bytes.
Span span_of(std::int64_t start, std::int64_t nbytes);

struct Layout {
  /// In insertion order, depth first.
  std::vector<Span> spans;
  std::int64_t total_bytes = 0;
};

/// Places each leaf right behind the one before it.
///
/// Errors  c10::NotImplementedError: a leaf that is not strided or has no data (sparse,
///         quantized, meta).
Layout lay_out(const TensorDictBase& td);

/// Checks that each leaf can be viewed in its span. Spans begin at multiples of 8 bytes, but an
/// element of complex128 has 16, and libtorch views elements only at multiples of their size.
///
/// Errors  c10::NotImplementedError: a complex128 leaf behind an odd number of 8-byte words.
void check_aligned(const TensorDictBase& td, const Layout& layout);

/// Returns the byte of a consolidated storage at which a view into it starts.
std::int64_t start_in(const at::Tensor& storage, const at::Tensor& view);

/// Views the data of a span as a tensor that shares the storage's memory.
///
/// Shapes  storage is contiguous, of any dtype, and holds the span; it holds exactly `shape`
///         elements and starts at a multiple of their size.
at::Tensor view_span(const at::Tensor& storage,
                     const Span& span,
                     at::ScalarType dtype,
                     c10::IntArrayRef shape);

}  // namespace tdref
