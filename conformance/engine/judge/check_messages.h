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
/// Order   only what was received and what was sent is compared; check_senders() counts them.
std::vector<WireDifference> check_both_ends(const Case& c, const Record& record);

/// Compares how many messages each rank has received under a tag with how many were sent to it. To
/// be called when all steps were answered: before, a sender's transcript may be older.
std::vector<WireDifference> check_senders(const Record& record);

/// Compares what each rank with a transcript sent and received with `messages` of the case.
///
/// Order   messages under one tag keep the order of the list, and so do those of one transfer for
///         its sender; nothing else has one. What is posted counts, waited for or not. Of each pair
///         of ranks only the first difference is listed, since one shifts those behind it.
std::vector<WireDifference> check_messages(const Case& c, const Record& record);

}  // namespace tdconf
