// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/play/fleet.h"

namespace tdconf {

struct Question {
  /// A request without fields.
  std::string request;
  std::vector<std::size_t> ranks;
  std::chrono::milliseconds limit{0};
};

/// Sends a request to some ranks at once and hands over each answer as it comes. Answers to
/// earlier requests, which come too late for anybody, are dropped.
///
/// Blocks  until every rank has answered or can answer no more, for at most the limit.
/// Errors  Interrupted.
void ask(const Question& question,
         const std::vector<Adapter*>& adapters,
         Fleet& fleet,
         const std::function<void(std::size_t rank, const Answer& answer)>& take);

}  // namespace tdconf
