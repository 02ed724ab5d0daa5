// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/play/event.h"
#include "engine/play/message.h"
#include "engine/play/process.h"

namespace tdconf {

/// What one rank did in one case.
struct RankRecord {
  std::string adapter;
  std::optional<std::int64_t> pid;
  std::set<std::string> capabilities;
  std::optional<Answer> join;
  /// The answers to its steps, in order.
  std::vector<Answer> answers;
  /// The step (from 0) that was sent and not answered.
  std::optional<int> in_flight;
  /// The process ended before anybody killed it.
  bool has_crashed = false;
  /// What it did against the protocol.
  std::optional<std::string> violation;
  /// How the process ended in the end; nothing while it lives on.
  std::optional<ExitStatus> exit;
  std::optional<std::string> stacks;
  /// It was asked for its stacks and said nothing, although its process lives.
  bool is_silent = false;
  std::optional<Ended> ended;
  /// What it did at the boundary of c10d; nothing from a player that does not report it.
  std::optional<Transcript> transcript;
  /// The place of the release and of the answer of each step in the one order, from 0, in which
  /// the judge saw all of them.
  std::vector<int> released;
  std::vector<int> answered;
  /// The numbers that the requests for its steps had.
  std::vector<std::int64_t> seqs;
  /// The answers to its steps as they came, when somebody wants to read them.
  std::vector<nlohmann::json> messages;
};

/// All that was seen of one case; the judge looks at nothing else.
struct Record {
  std::vector<RankRecord> ranks;
  /// The deadline came with something unanswered.
  bool is_hung = false;
  /// How long that deadline was.
  std::chrono::milliseconds deadline{0};
};

}  // namespace tdconf
