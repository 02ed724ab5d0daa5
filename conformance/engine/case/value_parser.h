// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/input/node.h"
#include "engine/value/tree.h"

namespace tdconf {

/// The fields of each tensorclass of a case, by the name of its class.
using FieldsByClass = std::map<std::string, std::set<std::string>>;

/// Reads a tensordict or a lazy stack as `rank` makes it, filling tensors that have no fill. The
/// classes that it names are added to `classes`.
///
/// Order   the n-th tensor (from 0, insertion order, depth first) holds a ramp from
///         1000·s + 100·n + 1, or for bool and small floats a scramble of 1000·s + n, where s is
///         the `seed` of the root or else rank + 1.
/// Errors  InputError, also for a class that `classes` has with other fields: a rank would not know
///         which of the two a name means.
Tree parse_value(const Node& node, const std::string& what, int rank, FieldsByClass& classes);

/// Reads the name of a dtype.
///
/// Errors  InputError, naming what is allowed.
const DType& parse_dtype(const Node& node, const std::string& what);

/// Reads a tensor that must have its own fill.
///
/// Errors  InputError.
TensorLeaf parse_tensor(const Node& node, const std::string& what);

}  // namespace tdconf
