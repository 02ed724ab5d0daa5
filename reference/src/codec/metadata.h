// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <optional>
#include <string>

#include "codec/layout.h"

namespace tdref {

/// The item about the root that says how many bytes the storage has, where metadata travels.
inline constexpr const char* kTotalBytes = "_total_bytes";

/// Whether metadata uses the key itself, beside the keys of nested tensordicts; 'size' is dropped
/// by readers.
bool is_reserved_key(const std::string& key);

/// Whether metadata reads the key of a leaf as a part of a jagged tensor.
bool is_jagged_key(const std::string& key);

/// Whether an item of a level of metadata is no nested tensordict: the level's own, or what other
/// operations add, whose key begins with '_'; it is a number or a string, and never a dict.
bool is_about_the_level(const std::string& key, const Value& value);

/// Returns the consolidated_metadata() of what consolidate() would make of a tensordict that is not
/// consolidated, where nobody needs the tensordict itself.
///
/// Errors  as consolidated_metadata().
Value metadata_at(const TensorDictBase& td, const Layout& layout);

/// Adds an item that another operation reads beside the nested tensordicts of the root. Without a
/// value only its key is kept free.
///
/// Errors  c10::NotImplementedError: the root has a nested tensordict under this key, which would
///         be taken for the item.
void add_about_the_root(Value& metadata, const std::string& key, std::optional<Value> value);

}  // namespace tdref
