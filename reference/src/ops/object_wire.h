// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include "ops/transfer.h"

namespace tdref {

/// Plans the send of a tensordict behind an object that describes it.
///
/// Wire    three messages with tag 0, those of torch.distributed.send_object_list([metadata]) and
///         of send(storage): int64[1] = [bytes of the pickle]; uint8[bytes], the pickle of the
///         metadata with '_total_bytes' in it; uint8[_total_bytes], the consolidated storage.
/// Peer    calls receive_described(), and is told of errors, if both ranks compare.
/// Errors  name the peer. c10::NotImplementedError: as consolidate() and consolidated_metadata().
Transfer plan_described_send(const Peer& peer, const TensorDictBase& td);

/// Receives what plan_described_send() plans, and builds it. A size that cannot be true is refused
/// before anything is allocated for it.
///
/// Blocks  together at most the group's timeout.
/// Errors  as from_remote_init().
AnyTensorDict receive_described(const Peer& peer);

}  // namespace tdref
