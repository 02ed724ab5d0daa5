// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "engine/case/case.h"
#include "engine/play/event.h"

namespace tdconf {

/// What an event says of the elements that a call carried, compared and shown. Of what has no digest
/// only the size is known.
bool have_same_digest(const std::optional<std::string>& a, const std::optional<std::string>& b);
bool have_same_contents(const Event& a, const Event& b);

/// Writes `, sha256 ...`, or nothing.
std::string show_digest(const std::optional<std::string>& sha256);
/// Writes `8 bytes, sha256 ...`.
std::string show_contents(const Event& event);

/// True when an adapter may call a tensor of `dtype` one of `reported`: c10d is given a complex
/// tensor as the real one of the same bytes.
bool is_reported_as(const DType& dtype, const std::string& reported);

/// Names the step in which a rank made a call, or the rank.
std::string show_caller(const Case& c, int rank, const Event& event);

}  // namespace tdconf
