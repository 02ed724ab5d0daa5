// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "values/dtype.h"

namespace tdconf {

/// Reads one element of a floating dtype, or one part of an element of a complex dtype.
double read_real(std::span<const std::uint8_t> bytes, const DType& dtype);

/// Writes `value` at the end of `bytes` as such an element or part, rounded to the nearest number.
void append_real(Bytes& bytes, double value, const DType& dtype);

}  // namespace tdconf
