// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "plan/reductions.h"

namespace tdref {

/// Writes an operation as Python does: "SUM".
std::string to_string(const c10d::ReduceOp& op);

/// Says which method reduces: gloo reduces sparse leaves for all_reduce() alone.
enum class Reduces : std::uint8_t { kOnAllRanks, kOnOneRank };

/// Looks at one leaf before anything is sent.
///
/// Shapes  bool, uint8, int8, int32 and int64 have every operation but AVG; float16, bfloat16,
///         float32 and float64 have SUM, AVG, PRODUCT, MIN and MAX; complex32, complex64 and
///         complex128 have SUM and AVG. Other dtypes have none. A sparse leaf has SUM alone, on all
///         ranks, with the dtypes of which torch adds and coalesces sparse tensors: uint8, int8,
///         int32, int64, bfloat16, float32, float64.
/// Errors  c10::NotImplementedError: what gloo cannot reduce, or does wrong, which for AVG of
///         integers it would say when the leaf already holds the sum; a leaf that is not on the CPU,
///         neither strided nor sparse, or quantized. c10::ValueError: elements that share memory
///         (expanded), unless the leaf is stacked.
/// Source  torch 2.15 ProcessGroupGloo, measured
void check_reducible(const ReducedLeaf& leaf, const c10d::ReduceOp& op, Reduces reduces);

}  // namespace tdref
