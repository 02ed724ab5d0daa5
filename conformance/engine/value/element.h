// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "engine/value/tree.h"

namespace tdconf {

/// Reads one element as a JSON boolean, integer or float; a complex number as [real, imaginary].
/// Infinities and NaNs stay what they are in the float.
nlohmann::json decode_element(std::span<const std::uint8_t> bytes, const DType& dtype);

/// Shows one element; what is not a finite number is followed by its bits.
std::string show_element(std::span<const std::uint8_t> bytes, const DType& dtype);

/// Reads all elements as nested lists of the given shape; a scalar is no list.
nlohmann::json nested_list(std::span<const std::uint8_t> bytes,
                           const DType& dtype,
                           const Shape& shape);

/// Writes `[i, j]`, the position of element `flat` in row-major order; nothing for a scalar.
std::string show_index(std::int64_t flat, const Shape& shape);
std::vector<std::int64_t> unflatten(std::int64_t flat, const Shape& shape);

}  // namespace tdconf
