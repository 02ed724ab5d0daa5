// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/ATen.h>
#include <tdref/tensordict.h>

#include <functional>
#include <vector>

namespace tdref::testing {

/// Two ends of a transfer under first tag 0 that do not fit, and what both ranks say about it.
struct Mismatch {
  const char* name;
  std::function<TensorDict()> sent;
  std::function<TensorDict()> received;
  bool send_consolidated;
  bool receive_consolidated;
  const char* message;
};

const std::vector<Mismatch>& mismatches();

TensorDict one_leaf(const char* key, const at::Tensor& tensor);

}  // namespace tdref::testing
