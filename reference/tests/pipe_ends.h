// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/pipe.h>

#include <functional>

#include "pipe/endpoint.h"

namespace tdref::testing {

/// When an end of a pipe is let go.
enum class WhenDone { kAtOnce, kSecondWaitsForFirst };

/// Opens a pipe over loopback between two threads, one end for each; `first` listens.
///
/// Errors  that of `second`, else that of `first`.
void pipe_between(const std::function<void(TensorDictPipe&)>& first,
                  const std::function<void(TensorDictPipe&)>& second,
                  const PipeOptions& first_options = {.timeout = std::chrono::seconds(20)},
                  const PipeOptions& second_options = {.timeout = std::chrono::seconds(20)},
                  WhenDone when_done = WhenDone::kAtOnce);

/// As pipe_between(), with a peer that connects and says what it likes.
void pipe_to_stranger(const std::function<void(TensorDictPipe&)>& pipe,
                      const std::function<void(Endpoint&, Deadline)>& stranger);

}  // namespace tdref::testing
