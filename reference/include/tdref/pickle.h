// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <string>
#include <string_view>

namespace tdref {

/// Pickles a literal so that Python's pickle.loads gives it back.
std::string pickle_value(const Value& value);

/// Reads a pickled literal (protocols 2 to 5) from another process, without executing anything. The
/// item `cls` of a dict may be a class, as in metadata: it is named, and not looked for.
///
/// Errors  c10::ValueError: truncated or trailing bytes, an opcode outside the subset, more than
///         the allowed depth, an object that is not a literal.
Value unpickle_value(std::string_view bytes);

/// Pickles a tensordict as tensordict._reductions._make_td(class, state), or, when it is
/// consolidated, as _rebuild_tensordict_files_consolidated(metadata, storage), so that Python's
/// pickle.loads gives it back. Of a persistent tensordict the pickle holds the name of its file, of
/// a tensorclass the name of its class beside its contents.
///
/// Errors  c10::NotImplementedError: a leaf that has no pickled form here (quantized, not on the
///         CPU or meta).
std::string pickle_tensordict(const TensorDictBase& td);

/// Reads a pickled tensordict from another process, without executing anything. The HDF5 file that
/// the pickle of a persistent tensordict names is opened for reading; the class that the pickle of a
/// tensorclass names is not looked for, and fields that are None are left out.
///
/// Errors  c10::ValueError: as unpickle_value, and: an object that is not a tensordict of tensors
///         and literals, a tensor that does not lie within its storage, or a file that this process
///         cannot read.
AnyTensorDict unpickle_tensordict(std::string_view bytes);

}  // namespace tdref
