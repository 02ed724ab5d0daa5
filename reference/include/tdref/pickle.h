// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>
#include <string_view>

namespace tdref {

/// Pickles a literal so that Python's pickle.loads gives it back.
std::string pickle_value(const Value& value);

/// Reads a pickled literal (protocols 2 to 5) from another process, without executing anything.
///
/// Errors  c10::ValueError: truncated or trailing bytes, an opcode outside the subset, more than
///         the allowed depth, an object that is not a literal.
Value unpickle_value(std::string_view bytes);

/// Pickles a tensordict as tensordict._reductions._make_td(TensorDict, state), or, when it is
/// consolidated, as _rebuild_tensordict_files_consolidated(metadata, storage), so that Python's
/// pickle.loads gives it back.
///
/// Errors  c10::NotImplementedError: a leaf that has no pickled form here (jagged, quantized, not
///         on the CPU or meta).
std::string pickle_tensordict(const TensorDict& td);

/// Reads a pickled tensordict from another process, without executing anything.
///
/// Errors  c10::ValueError: as unpickle_value, and: an object that is not a tensordict of tensors
///         and literals, or a tensor that does not lie within its storage.
TensorDict unpickle_tensordict(std::string_view bytes);

}  // namespace tdref
