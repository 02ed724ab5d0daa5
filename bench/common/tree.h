// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include "common/case.h"
#include "common/values.h"

namespace tdconf::bench {

/// Makes the tensordict of a case of its leaves, which it shares. Leaf i has the key "l" and i in at
/// least four digits, below i * (depth + 1) / leaves levels of nested tensordicts, whose keys are "n".
tdref::TensorDict make_tree(const Case& c,
                            const Leaves& leaves,
                            const tdref::Shape& batch_size = {});

/// Returns the leaves of such a tensordict, in the order of the case.
Leaves leaves_of(const tdref::TensorDictBase& td);

}  // namespace tdconf::bench
