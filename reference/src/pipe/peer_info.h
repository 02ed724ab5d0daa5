// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tdref {

/// What each end of a connection says first, in memory as on the wire.
struct PeerInfo {
  /// The tag of all messages to this end.
  std::uint64_t tag = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(PeerInfo) == 16);

/// Returns a new random tag with its checksum.
PeerInfo new_peer_info();

/// Errors  c10::ValueError: the checksum is not the tag's, so that the peer is no pipe.
void check(const PeerInfo& theirs);

/// Returns the first 8 bytes, as a big-endian number, of the SHA-1 of "(TAG,)".
///
/// Source  ucxx 0.52 hash64bits
std::uint64_t checksum_of(std::uint64_t tag);

}  // namespace tdref
