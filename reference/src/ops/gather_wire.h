// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tdref {

/// Says which of two protocols gather_and_stack speaks, after the backend string alone.
enum class GatherWire {
  kStorages,  // backend exactly "gloo": header int64[3] = [kind, storage bytes, total bytes]
  kObjects,   // any other: header int64[1] = [total bytes], as torch.distributed.gather_object
};

GatherWire gather_wire_for(const std::string& backend);

/// Values of `kind` in the header.
enum class GatherKind : std::int64_t { kNothing = 0, kPickle = 1, kStorage = 2 };

/// Holds what one rank contributes.
struct GatherMessage {
  GatherKind kind = GatherKind::kNothing;
  std::int64_t storage_bytes = 0;
  /// uint8[total bytes]: a pickle, or a storage followed by its pickled metadata.
  at::Tensor buffer;
};

/// Encodes a tensordict: as a storage where the wire has it and nothing is lost, else as a pickle.
///
/// Errors  c10::NotImplementedError: the tensordict cannot be pickled.
GatherMessage encode(const TensorDictBase& td, GatherWire wire);

/// Returns what all ranks tell each other of their messages, before these are gathered.
at::Tensor header_of(const GatherMessage& message, GatherWire wire);

/// Gathers what every rank contributes on rank `group_dst`, by group rank, and nothing elsewhere.
///
/// Errors  c10::ValueError, on all ranks alike: a header that makes no sense.
std::vector<GatherMessage> gather_messages(const Group& group,
                                           int group_dst,
                                           GatherWire wire,
                                           const GatherMessage& message);

/// Errors  c10::ValueError: the message is not a tensordict, or is empty because its rank could not
///         encode its own.
AnyTensorDict decode(const GatherMessage& message, int group_rank);

}  // namespace tdref
