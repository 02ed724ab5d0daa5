// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace tdref {

// The stream that torch.save writes for one storage, without a zip file, and that
// torch.storage._load_from_bytes reads:
//   pickles of: the magic number; 1001; {'protocol_version', 'little_endian', 'type_sizes'};
//               the persistent id ('storage', class, key, 'cpu', element count, None); [key]
//   int64 element count
//   the elements

/// Writes the elements of a contiguous tensor of one dimension, whose dtype has a storage class.
std::string save_storage(const at::Tensor& elements);

/// Copies the storage out of the stream, into a tensor of one dimension; a storage without type is
/// uint8.
///
/// Errors  c10::ValueError: another form, big-endian, not on the CPU, or a count that the bytes do
///         not match.
at::Tensor load_storage(std::string_view stream);

}  // namespace tdref
