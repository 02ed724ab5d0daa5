// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "values/fill.h"

namespace tdconf {

/// Reads a FILL of the protocol, refusing unknown fields.
///
/// Errors  std::invalid_argument, naming what is allowed.
Fill fill_from_json(const nlohmann::json& json);

/// Writes a FILL of the protocol.
nlohmann::json fill_to_json(const Fill& fill);

}  // namespace tdconf
