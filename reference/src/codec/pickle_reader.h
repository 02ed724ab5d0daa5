// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "codec/pickle_object.h"

namespace tdref {

/// Takes one pickle off the front of `bytes`, which then begins behind it.
///
/// Nothing is executed. The memory that it takes is proportional to the length of the message,
/// whatever the message says of itself.
///
/// Errors  c10::ValueError, naming the byte: truncated, an opcode outside the subset (see
///         opcodes.h), a wrong use of the stack or the memo, an integer of more than 64 bits.
PickledObjects take_pickle(std::string_view& bytes);

/// Reads one pickle that is the whole message.
///
/// Errors  as take_pickle(), and trailing bytes.
PickledObjects read_pickle(std::string_view bytes);

}  // namespace tdref
