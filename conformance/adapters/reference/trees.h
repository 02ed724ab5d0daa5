// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>

#include "common/fields.h"
#include "reference/files.h"

namespace tdconf::adapter {

/// Builds the tensordict that a TREE describes, entries in the order of its list. The files behind
/// persistent ones are among `files`.
///
/// Order   entries, then names, then `locked`, then `consolidated`.
/// Errors  BadRequest: no TREE of the protocol. Unsupported: a kind that tdref does not have.
///         What tdref raises for a value that it refuses, unchanged.
tdref::AnyTensorDict make_tensordict(const json& tree, const std::string& where, Files& files);

/// Describes a tensordict as the snapshot that the protocol defines.
json snapshot_tensordict(const tdref::TensorDictBase& td);

}  // namespace tdconf::adapter
