// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/leaf.h>

#include <cstddef>
#include <vector>

namespace tdref {

/// Stacks non-tensor data along a new first dimension.
///
/// Errors  c10::ValueError: some rows are stacks, or deeper ones, and others are not.
NonTensor stack_data(const std::vector<NonTensor>& rows);

/// Returns a row of a stack, which may be a stack itself.
NonTensor row_of(const NonTensor& stack, std::size_t index);

/// Takes lists for stacks, one in the other, as far as each has a row for each of the batch.
///
/// Errors  c10::ValueError: the outer one is no list with a row for each of the batch.
NonTensor stacked_lists(Value lists, const std::vector<std::int64_t>& batch_size);

/// Returns how many rows a stack has in each of its dimensions.
///
/// Errors  c10::ValueError: data that is no list, or whose rows have other numbers of rows.
std::vector<std::int64_t> rows_of(const NonTensor& stack);

}  // namespace tdref
