// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>
#include <tdref/tensordict.h>

#include <optional>

namespace tdref {

struct FromRemoteInitOptions {
  /// The global rank of the sender; required.
  std::optional<int> src = std::nullopt;
  /// The default group if not given.
  std::optional<Group> group = std::nullopt;
  /// Where the result is, and without use_broadcast what the metadata goes through; only the CPU is
  /// served.
  std::optional<at::Device> device = std::nullopt;
  /// Whether the sender passes it: then it is the part of a receiver in broadcast().
  bool use_broadcast = false;
};

/// Receives what init_remote() sends, and returns it as a new consolidated tensordict, into which
/// recv() with `consolidated` receives the next batches. With use_broadcast, Wire and Peer are as in
/// broadcast(), and so are the errors beside those of src.
///
/// Wire    as init_remote().
/// Shapes  those of the sender; so are the class (a lazy stack stays one, and so does a
///         tensorclass), the names, the device and the non-tensor data. History and the class of
///         leaves are not kept. The result is locked, as every consolidated tensordict here.
/// Peer    calls init_remote(); what it sends is not trusted: the metadata, of at most 64 MiB, is
///         read without executing anything, and a storage that does not end behind the last leaf is
///         refused before it is allocated. How large leaves may be is not bounded. The transport
///         does not notice a message that is shorter than announced, and ends the receiving process
///         when it is longer.
/// Blocks  until all messages have arrived, at most the group's timeout.
/// Errors  c10::TypeError: no src. Before anything is received, c10::ValueError: no such rank; this
///         rank itself; not a member; a standalone group; and, where both ranks compare, as
///         init_remote(). c10::NotImplementedError: another device than the CPU.
///         Then, c10::ValueError: a pickle that unpickle_value() refuses, a leaf that metadata
///         describes wrongly, or sizes that cannot be true or cannot be allocated, whereupon the
///         peer waits for its timeout.
///         After all messages, so that the peer does not wait, c10::ValueError: as rebuild();
///         c10::NotImplementedError: a tensorclass that holds a lazy stack.
///         While waiting, those of Work::wait().
/// Source  tensordict 0.15.3 TensorDictBase.from_remote_init
AnyTensorDict from_remote_init(const World& world, const FromRemoteInitOptions& options);

}  // namespace tdref
