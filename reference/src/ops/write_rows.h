// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <vector>

namespace tdref {

/// Writes rows side by side into the tensors of `target`, as target.update_in_place(*stack(rows))
/// does, without making the stack; each element is copied once. Only where everything is plain:
/// tensordicts all the way down, with one set of keys, and leaves on the CPU in row-major order, of
/// one dtype. Where something is not, or does not fit, nothing is written.
///
/// Shapes  `target` has (rows.size(), *B), each row *B.
/// Returns whether the rows were written.
bool write_plain_rows(TensorDictBase& target, const std::vector<AnyTensorDict>& rows);

}  // namespace tdref
