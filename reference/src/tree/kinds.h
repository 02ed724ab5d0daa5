// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

namespace tdref {

/// Errors  c10::Error: one entry is a tensor, a jagged tensor, a tensordict or non-tensor data, and
///         the other is not.
void check_same_kind(const std::string& key, const Entry& a, const Entry& b);

}  // namespace tdref
