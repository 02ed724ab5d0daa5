// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/limits.h"

namespace tdref {

/// What both ends of a pipe know of the tensordicts that come next: two are of one structure if
/// their schemas compare equal.
struct Schema {
  /// As JSON gives it back: what is a tuple in consolidated_metadata() is a list.
  Value metadata;
  std::int64_t total_bytes = 0;

  bool operator==(const Schema&) const = default;
};

/// Errors  those of consolidated_metadata() and to_json().
Schema schema_of(const TensorDictBase& consolidated);

/// Errors  c10::ValueError: it is longer than kMaxMetadataBytes.
///         c10::NotImplementedError: the root has a nested tensordict under one of the two keys that
///         travel with the metadata.
std::string schema_to_json(const Schema& schema);

/// Reads the metadata that a peer sends.
///
/// Errors  c10::ValueError: it is none, or announces a storage of less than no bytes or on another
///         device than the CPU.
Schema schema_from_json(std::string_view json);

}  // namespace tdref
