// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/ATen.h>
#include <tdref/tensordict.h>

#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace tdref::testing {

/// An operation and a dtype that gloo reduces with it.
struct Reducible {
  c10d::ReduceOp::RedOpType op;
  at::ScalarType dtype;
};

const std::vector<Reducible>& all_reducible();

/// Returns what a rank brings to a reduction: small numbers, different for each rank, whose result
/// has the same bits in every order.
at::Tensor operand(const Reducible& what, int rank, int world_size);

/// Returns what the operands of all ranks make, counted in whole numbers.
at::Tensor result(const Reducible& what, int world_size);

/// Returns the sum over all ranks of ramp(rank + 1, size).
at::Tensor sum_of_ramps(int world_size, std::int64_t size);

/// {d: int64[1], c: float32[6], b: float32[2], a: float32[2]}, a ramp from rank + 1 each: 8 bytes, but
/// for the 24 of c.
TensorDict leaves(int rank);
/// Expects the sums of the leaves of all ranks.
void expect_sums(const TensorDict& td, int world_size);

const at::Tensor& tensor_at(const TensorDict& td, const char* key);

}  // namespace tdref::testing
