// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/core/ScalarType.h>

#include <string_view>

namespace tdref {

struct DtypeName {
  at::ScalarType dtype;
  /// As Python's str(dtype) has it.
  std::string_view name;
  /// Whether tensordict's consolidated metadata may name it.
  bool in_metadata;
  /// The class of torch.save's storages; empty if there is none for this dtype.
  std::string_view storage_class;
};

/// Errors  c10::NotImplementedError: a dtype without a name here (quantized, bits).
const DtypeName& dtype_name(at::ScalarType dtype);

/// Return null if there is no such dtype.
const DtypeName* find_dtype(std::string_view name);
const DtypeName* find_storage_class(std::string_view storage_class);

}  // namespace tdref
