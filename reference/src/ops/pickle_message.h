// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace tdref {

/// Tells the observer of a pickle that is to travel.
void note_pickled(std::string_view pickle);

/// Copies a pickle into a uint8 tensor that is to travel, and tells the observer.
at::Tensor pickle_message(std::string_view pickle);

/// Tells the observer of a pickle from another rank, once it has been read.
void note_unpickled(std::string_view pickle);

}  // namespace tdref
