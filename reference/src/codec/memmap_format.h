// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tdref::memmap_format {

// The names that a folder of memmap() uses itself.
inline constexpr const char* kMeta = "meta.json";
inline constexpr const char* kContents = "_tensordict";
inline constexpr const char* kOtherPickle = "other.pickle";
inline constexpr const char* kStackPickle = "pickle.pkl";
// Says what classes another pickle holds, which tensordict then does not read.
inline constexpr const char* kJsonTypes = "json_types.json";
inline constexpr std::string_view kLeafSuffix = ".memmap";

inline constexpr std::int64_t kVersion = 1;

/// Whether meta.json of a TensorDict has no place for an entry of this key.
bool is_reserved_key(std::string_view key);

/// Names the file or folder of an entry within the folder of its tensordict: one name, whatever the
/// key, and another one for another key.
std::string name_of(std::string_view key);

/// Whether older versions of tensordict may have used the key itself as a name, and it names
/// something within the folder.
bool may_be_a_name(std::string_view key);

}  // namespace tdref::memmap_format
