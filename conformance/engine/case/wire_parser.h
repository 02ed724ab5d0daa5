// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include "engine/case/case.h"
#include "engine/case/values.h"

namespace tdconf {

/// Reads `messages` of a case: all that travels point to point.
///
/// Order   an EXPR is evaluated for the rank that sends.
/// Errors  InputError: a rank outside the group, a message to its own sender, an unknown value or key.
std::vector<Message> parse_messages(const Node& node,
                                    int world,
                                    const std::vector<Group>& groups,
                                    ValueTable& values);

/// Reads `transcript` of a case: what a rank does at the boundary of c10d.
///
/// Errors  InputError: a call that is not collective, a root of a call that has none, a negative
///         count, a rank outside the group, a rank of which nothing is said.
std::map<int, ExpectedTranscript> parse_transcripts(const Node& node,
                                                    int world,
                                                    const std::vector<Group>& groups);

}  // namespace tdconf
