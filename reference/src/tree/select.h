// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

namespace tdref {

/// Takes one row out of a batch dimension, as views; of a lazy stack along that dimension, the
/// member.
///
/// Shapes  `dim` is a batch dimension, and 0 <= index < its size; the result lacks it.
/// Errors  c10::NotImplementedError: a jagged tensor, or non-tensor data that has no such row.
AnyTensorDict select(const TensorDictBase& td, std::int64_t dim, std::int64_t index);

/// Takes `length` rows from `start` on out of a batch dimension, as views; of a lazy stack along that
/// dimension, a lazy stack of those members.
///
/// Shapes  `dim` is a batch dimension, and start + length <= its size; the result has `length` there.
/// Errors  as select(). c10::ValueError: no member of a lazy stack.
AnyTensorDict narrow(const TensorDictBase& td,
                     std::int64_t dim,
                     std::int64_t start,
                     std::int64_t length);

}  // namespace tdref
