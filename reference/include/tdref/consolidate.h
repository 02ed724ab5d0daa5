// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

namespace tdref {

/// Copies all leaves into one storage and returns a locked tensordict of views into it; a
/// consolidated one is returned as it is. A lazy stack and a tensorclass stay what they are, a
/// persistent tensordict becomes one in memory.
///
/// Order   insertion order, nested tensordicts depth first (not sorted), lazy stacks member by
///         member; of a jagged leaf its values, its lengths if it has them, and its offsets.
/// Wire    each leaf: its elements in row-major order, then `-nbytes mod 8` zero bytes. The
///         metadata is {'cls': 'TensorDict', 'non_tensors': {key: (data, batch_size, device)},
///         'leaves': {key: (dtype, shape, start, stop, pad)}, 'cls_metadata': {'device', 'names',
///         'batch_size', 'is_locked'}, nested key: {the same}}; start, stop, pad count bytes. Of a
///         lazy stack the class is 'LazyStackedTensorDict', 'cls_metadata' is {'stack_dim',
///         'stack_dim_name', 'is_locked'}, and the members stand under '0', '1' and so on. A jagged
///         leaf has the keys '<NJT_VALUES>' + key, '<NJT_LENGTHS>' + key and '<NJT_OFFSETS>' + key,
///         the last with ragged_idx behind pad. A tensorclass is written as a TensorDict; below the
///         root 'cls' is its class, at the root 'TensorDict': what is rebuilt there has none.
/// Errors  c10::NotImplementedError: a leaf that is not strided or has no data (sparse, quantized,
///         meta), or a complex128 leaf behind an odd number of 8-byte words, which no view can
///         reach.
/// Source  tensordict 0.15.3 TensorDictBase.consolidate
TensorDict consolidate(const TensorDict& td);
LazyStackedTensorDict consolidate(const LazyStackedTensorDict& td);
TensorClass consolidate(const TensorClass& td);
AnyTensorDict consolidate(const TensorDictBase& td);

/// Describes a consolidated tensordict, so that rebuild() makes it from its storage; the form is
/// under Wire above.
///
/// Errors  AttributeError: `td` is not consolidated. c10::NotImplementedError: a dtype that
///         tensordict's metadata cannot name, or a key that it uses itself.
Value consolidated_metadata(const TensorDictBase& td);

/// Builds the tensordict that `metadata` describes, as views into `storage`, which comes from
/// another process.
///
/// Shapes  storage is uint8[total bytes], contiguous. It may hold more than the leaves: a tensordict
///         taken out of a rebuilt one is described within the storage of the whole, and travels
///         with it.
/// Errors  c10::ValueError: metadata of another form, an unknown class or dtype, or a leaf that
///         does not lie within the storage, is not aligned to its elements, overlaps another leaf
///         or does not begin with the batch size.
/// Source  tensordict 0.15.3 _rebuild_tensordict_files_consolidated
AnyTensorDict rebuild(const Value& metadata, const at::Tensor& storage);

}  // namespace tdref
