// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/ATen.h>
#include <tdref/value.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tdref::testing {

// What another process may send in place of a tensordict.

/// Copies bytes into a tensor.
at::Tensor bytes_of(const std::string& text);

/// Returns int64[1].
at::Tensor number(std::int64_t value);

/// Returns the metadata of one float32[2], and '_total_bytes' and `items` beside it.
Value metadata_with(Value total_bytes, const Value::Dict& items = {});

/// A pickle of metadata that its receiver must refuse before it makes the storage.
struct Hostile {
  const char* name;
  std::int64_t size;
  std::string pickle;
  const char* error;
};

/// Lists them; those that are metadata at all have `items` beside it.
std::vector<Hostile> hostile_metadata(const Value::Dict& items = {});

/// Returns the message of the error that `call` throws.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace tdref::testing
