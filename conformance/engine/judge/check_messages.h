// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/case/case.h"
#include "engine/judge/wire.h"
#include "engine/play/record.h"

namespace tdconf {

/// Compares both ends of what travelled: the n-th message under a tag from one rank to another in a
/// group has the bytes for the receiver that it has for the sender.
///
/// Order   only what was received and what was sent is compared; that one end has more than the
///         other says nothing here.
std::vector<WireDifference> check_both_ends(const Case& c, const Record& record);

/// Compares what each rank with a transcript sent and received with `messages` of the case.
///
/// Order   a sender keeps the order of the list for each receiver; a receiver may post in any order,
///         but keeps that of the list under one tag. What is posted counts, waited for or not. Of
///         each pair of ranks only the first difference is listed, since one shifts those behind it.
std::vector<WireDifference> check_messages(const Case& c, const Record& record);

}  // namespace tdconf
