// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/recv.h>
#include <tdref/send.h>
#include <tdref/tensordict.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tdref {

struct PipeOptions {
  /// How long each call of the pipe may take, those that open and close it too.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// The largest storage that the peer may announce.
  std::int64_t max_storage_bytes = std::int64_t{1} << 36;
};

struct ListenOptions {
  /// The address to listen at: nothing on the wire tells who connects.
  std::string host = "127.0.0.1";
  /// Is told the port once peers can connect to it.
  std::function<void(std::uint16_t port)> on_listening = nullptr;
};

/// Carries tensordicts both ways between two processes over UCX; the receiver needs to know nothing
/// of their structure. Of the two modes of tensordict's pipe it has the default, consolidated=True.
///
/// Order   what one end sends arrives in that order.
/// Wire    connecting: on UCX's stream, the listening end first, each end sends the tag under which
///         it receives and a checksum of it, two u64. Then messages under the tag of the other end,
///         numbers little-endian. A tensordict: one byte, 0 for a new structure and 1 for that of
///         the last tensordict of this direction; with 0 a u64 that counts the bytes of the
///         metadata, and the metadata as JSON; the consolidated storage, even if it has no bytes.
///         The JSON is consolidated_metadata() with lists for tuples, and at its root
///         `_total_bytes`, the size of the storage, and `_device`.
/// Peer    another TensorDictPipe of this library or of tensordict, with the same version of UCX.
/// Blocks  each call at most `timeout`; a peer that closes or dies ends it at once. A thread of the
///         pipe lets data move between two calls; one thread at a time may call.
/// Errors  c10::Error: the pipe is closed, or the peer says that the structure is the last one and
///         there was none. c10::ValueError: another peer than a pipe, a message that has not the
///         size that is due or begins with another byte than 0 and 1, or metadata that is too large
///         or does not describe a tensordict within its storage. c10::DistNetworkError: the peer
///         cannot be reached, has closed or is gone. c10d::TimeoutError: not within `timeout`.
///         An error while a tensordict is on its way closes the pipe, since no later message could
///         be told from the rest of this one.
/// Source  tensordict 0.15.3 tensordict._ucxx.TensorDictPipe; ucxx 0.52
class TensorDictPipe {
 public:
  /// Connects to a pipe that listens at `host`, a numeric address.
  static TensorDictPipe connect(const std::string& host,
                                std::uint16_t port,
                                const PipeOptions& options = {});

  /// Listens on `port` (0: a free one) and returns the pipe to the first peer that connects; nobody
  /// else can connect from then on.
  static TensorDictPipe listen(std::uint16_t port,
                               const ListenOptions& listening = {},
                               const PipeOptions& options = {});

  TensorDictPipe(TensorDictPipe&&) noexcept;
  TensorDictPipe& operator=(TensorDictPipe&&) noexcept;
  /// Drops the connection, with what the peer does not have yet; see close().
  ~TensorDictPipe();

  /// Sends a tensordict, consolidated first unless it is already.
  ///
  /// Blocks  until UCX has taken it, which for a large one needs the peer to fetch it. The peer has
  ///         all of it for certain once it says so, or close() has returned.
  /// Errors  before any message: those of consolidate() and consolidated_metadata(); c10::TypeError:
  ///         non-tensor data that JSON cannot hold; c10::ValueError: the metadata is too large or
  ///         too deep, or holds a number or text that JSON cannot hold; c10::NotImplementedError: a
  ///         nested tensordict has the key `_total_bytes` or `_device` at the root.
  void send(const TensorDictBase& td);

  /// Receives a tensordict. What has the structure of the one before is written into the same
  /// memory, which the result of that receive shares: copy a tensordict to keep it.
  AnyTensorDict recv();

  /// Receives into the storage of `td` if it is consolidated with the layout of what arrives, and
  /// returns `td`; else as recv() without it.
  AnyTensorDict recv(const TensorDictBase& td);

  /// Closes the pipe when the peer's UCX has what was sent, at most `timeout`; does nothing to a
  /// closed one.
  void close();

  bool closed() const;

 private:
  class Impl;
  explicit TensorDictPipe(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// Sends a tensordict through a pipe, whole and with its structure; other options are ignored.
///
/// Wire    as TensorDictPipe.
/// Peer    calls recv() with the other end of the pipe, or anything else that receives from it.
/// Blocks  as TensorDictPipe::send().
/// Errors  before any message, c10::ValueError: `dst` or `group_dst` are given. As
///         TensorDictPipe::send().
/// Source  tensordict 0.15.3 TensorDictBase.send(dst=TensorDictPipe)
void send(TensorDictPipe& dst, const TensorDictBase& td, const SendOptions& options = {});

/// Receives a tensordict from a pipe and returns it: `td` itself, if it is consolidated with the
/// layout of what arrives, or another one, see TensorDictPipe::recv(); other options are ignored.
///
/// Wire    as TensorDictPipe.
/// Peer    calls send() with the other end of the pipe, or anything else that sends through it.
/// Blocks  until the tensordict has arrived, at most the pipe's timeout.
/// Errors  before any message, c10::ValueError: `src` or `group_src` are given. As TensorDictPipe.
/// Source  tensordict 0.15.3 TensorDictBase.recv(src=TensorDictPipe)
AnyTensorDict recv(TensorDictPipe& src, const TensorDictBase& td, const RecvOptions& options = {});

}  // namespace tdref
