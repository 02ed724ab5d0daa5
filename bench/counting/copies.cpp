// SPDX-License-Identifier: BSD-3-Clause
#include "counting/copies.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

namespace tdconf::bench {
namespace {

// What is written is as large as the first argument: a tensor that is written or read whole, or all
// tensors of a list. aten::clone, aten::contiguous, aten::to and others call aten::copy_.
constexpr std::array<std::string_view, 4> kCopies{
    "aten::copy_", "aten::_foreach_copy_", "aten::cat", "aten::stack"};

std::int64_t nbytes(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

}  // namespace

bool copies(std::string_view operation) {
  return std::find(kCopies.begin(), kCopies.end(), operation) != kCopies.end();
}

std::int64_t bytes_copied(c10::ArrayRef<const c10::IValue> arguments) {
  const auto& first = arguments.at(0);
  if (first.isTensor()) {
    return nbytes(first.toTensor());
  }
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : first.toTensorVector()) {
    bytes += nbytes(tensor);
  }
  return bytes;
}

}  // namespace tdconf::bench
