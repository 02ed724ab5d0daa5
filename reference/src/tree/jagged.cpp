// SPDX-License-Identifier: BSD-3-Clause
#include "tree/jagged.h"

#include "tree/walk.h"

namespace tdref {
namespace {

bool is_list_of_numbers(const at::Tensor& tensor) {
  return tensor.defined() && tensor.dim() == 1 && tensor.layout() == at::kStrided &&
         tensor.is_cpu() && (tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt);
}

}  // namespace

void check_form(const std::string& name, const Jagged& jagged) {
  const auto& [values, offsets, lengths, ragged_idx] = jagged;
  TORCH_CHECK_VALUE(values.defined() && values.layout() == at::kStrided && 1 <= ragged_idx &&
                        ragged_idx <= values.dim(),
                    name,
                    " needs strided values with a ragged dimension from 1 to their number of "
                    "dimensions; its ragged dimension is ",
                    ragged_idx);
  TORCH_CHECK_VALUE(is_list_of_numbers(offsets) && jagged.rows() >= 0,
                    name,
                    " needs one offset more than rows, as a list of whole numbers on the CPU");
  TORCH_CHECK_VALUE(
      !lengths.defined() || (is_list_of_numbers(lengths) && lengths.size(0) == jagged.rows()),
      name,
      " needs one length for each of its ",
      jagged.rows(),
      " rows, as a list of whole numbers on the CPU");
}

void check_rows(const Jagged& jagged) {
  check_form("a jagged tensor", jagged);
  const bool has_lengths = jagged.lengths.defined();
  const auto offsets = jagged.offsets.to(at::kLong).contiguous();
  const auto lengths = has_lengths ? jagged.lengths.to(at::kLong).contiguous() : at::Tensor();
  const auto* begin = offsets.const_data_ptr<std::int64_t>();
  const auto end_of_values = jagged.values.size(jagged.ragged_idx - 1);
  for (std::int64_t row = 0; row < jagged.rows(); ++row) {
    const auto room = begin[row + 1] - begin[row];
    const auto length = has_lengths ? lengths.const_data_ptr<std::int64_t>()[row] : room;
    TORCH_CHECK_VALUE(0 <= begin[row] && begin[row] <= begin[row + 1] &&
                          begin[row + 1] <= end_of_values && 0 <= length && length <= room,
                      "row ",
                      row,
                      " of a jagged tensor does not lie within its ",
                      end_of_values,
                      " values");
  }
}

void check_rows(const TensorDictBase& td) {
  for_each_leaf(td, [](const KeyPath&, const Entry& entry) {
    if (const auto* jagged = entry.jagged()) {
      check_rows(*jagged);
    }
  });
}

}  // namespace tdref
