// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tdref {

/// Whether metadata uses the key itself, beside the keys of nested tensordicts; 'size' is dropped
/// by readers.
bool is_reserved_key(const std::string& key);

/// Whether metadata reads the key of a leaf as a part of a jagged tensor.
bool is_jagged_key(const std::string& key);

}  // namespace tdref
