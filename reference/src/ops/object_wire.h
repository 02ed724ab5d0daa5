// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <optional>

#include "ops/transfer.h"

namespace tdref {

/// Plans the send of a tensordict behind an object, its metadata, that describes it.
///
/// Wire    as init_remote().
/// Peer    calls receive_object(), and is told of errors, if both ranks compare.
/// Errors  name the peer. c10::NotImplementedError, c10::ValueError: what init_remote() refuses of
///         a tensordict or a device.
Transfer plan_object_send(const Peer& peer,
                          const TensorDictBase& td,
                          const std::optional<at::Device>& device);

/// Receives what plan_object_send() plans, and builds it. A size that cannot be true is refused
/// before anything is allocated for it.
///
/// Blocks  together at most the group's timeout.
/// Errors  as from_remote_init().
AnyTensorDict receive_object(const Peer& peer, const std::optional<at::Device>& device);

}  // namespace tdref
