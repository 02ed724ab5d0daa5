// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "engine/case/case.h"
#include "engine/play/record.h"

namespace tdconf {

/// True for a rank that was asked something and neither answered nor ended.
bool has_not_answered(const RankRecord& record);

/// Says which group is meant; empty for the default group.
std::string in_group(const std::string& group);

/// The calls of a rank that were not done.
std::vector<Event> pending_calls(const RankRecord& record);

/// The pending call that a rank waits in, or null: one of the step in flight, or any when that step
/// is a `wait`. One that the other end never answered goes before one that it did, and then a
/// receive before a collective call before a send.
const Event* call_waited_in(const Case& c, const Record& record, int rank);

/// True when the other end of a message has begun the call that belongs to it: the n-th of a rank
/// under a tag belongs to the n-th of the other.
bool is_met(const Record& record, int rank, const Event& message);

/// The members of the group that have not begun the collective call `call` of `rank`, or another one
/// in its place. Members that report nothing count when there is nobody else.
std::vector<int> absent_members(const Case& c, const Record& record, int rank, const Event& call);

/// The last message that `rank` sent to (`send`) or received from (`recv`) a peer in a group, or null.
const Event* last_message(const RankRecord& record,
                          const std::string& kind,
                          int peer,
                          const std::string& group);

}  // namespace tdconf
