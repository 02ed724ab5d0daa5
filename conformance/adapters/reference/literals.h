// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include "common/fields.h"

namespace tdconf::adapter {

/// Converts the data of a non-tensor entry: null, booleans, numbers, strings, lists, objects.
///
/// Errors  BadRequest: an integer beyond 64 bits signed.
tdref::Value to_value(const json& data);

/// Converts back. A tuple becomes a list and bytes become their hex digits, since JSON has neither.
json to_json(const tdref::Value& value);

}  // namespace tdconf::adapter
