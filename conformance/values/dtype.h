// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tdconf {

using Bytes = std::vector<std::uint8_t>;

/// What the elements of a dtype are, which decides how a fill becomes bytes.
enum class DTypeKind { kBool, kInteger, kFloat, kComplex };

/// One element type, under the name that torch gives it.
struct DType {
  std::string_view name;
  std::size_t size_bytes;
  DTypeKind kind;
};

/// Lists every dtype that cases and the protocol may name.
std::span<const DType> all_dtypes();

/// Returns the dtype called `name`.
///
/// Errors  std::invalid_argument, naming what is allowed.
const DType& dtype_named(std::string_view name);

/// True for bool and for the 8-bit and 16-bit floating types (also as parts of a complex number),
/// where a ramp would leave the range of exactly represented integers.
bool is_scrambled_by_default(const DType& dtype);

/// Multiplies the sizes; 1 for a scalar.
///
/// Errors  std::invalid_argument: a negative size, or a product beyond 64 bits, empty dimensions aside.
std::int64_t count_elements(std::span<const std::int64_t> shape);

}  // namespace tdconf
