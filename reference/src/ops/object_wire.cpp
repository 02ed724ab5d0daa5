// SPDX-License-Identifier: BSD-3-Clause
#include "ops/object_wire.h"

#include <tdref/consolidate.h>

#include <chrono>

#include "group/work.h"
#include "ops/device.h"
#include "ops/object_message.h"

namespace tdref {
namespace {

constexpr int kTag = 0;

// What both ends say of every transfer of an object.
const DescriptionPtr& structure() {
  static const auto description = std::make_shared<const Description>(
      "the metadata of a tensordict and its consolidated storage");
  return description;
}

/// Takes the messages of one peer one after the other, until a deadline.
class Messages {
 public:
  explicit Messages(const Peer& peer)
      : peer_(peer), deadline_(std::chrono::steady_clock::now() + peer.group.timeout()) {}

  /// Takes the first two messages, once the other end is known to send the third too.
  Value take_metadata(const std::optional<at::Device>& device) const {
    return read_metadata(take(take_size(device), "metadata"));
  }

  at::Tensor take_storage(std::int64_t bytes) const { return take(bytes, "a storage"); }

 private:
  std::int64_t take_size(const std::optional<at::Device>& device) const {
    const auto size = size_message();
    complete(plan_with({peer_, Side::kReceives, {{{}, kTag, size}}, kTag, structure()},
                       [&](Transfer&) { check_served(device); }));
    const auto bytes = size.item<std::int64_t>();
    check_metadata_bytes(bytes, peer_.group_rank);
    return bytes;
  }

  at::Tensor take(std::int64_t bytes, const char* what) const {
    auto message = allocate(bytes, what, peer_.group_rank);
    peer_.group.irecv(message, peer_.group_rank, kTag).wait(time_left(deadline_));
    return message;
  }

  const Peer& peer_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

Transfer plan_object_send(const Peer& peer,
                          const TensorDictBase& td,
                          const std::optional<at::Device>& device) {
  return plan_with({peer, Side::kSends, {}, kTag, structure()}, [&](Transfer& transfer) {
    check_served(device);
    const auto [size, metadata, storage] = object_message(td, class_of(td));
    for (const auto& message : {size, metadata, storage}) {
      transfer.messages.push_back({{}, kTag, message});
    }
  });
}

AnyTensorDict receive_object(const Peer& peer, const std::optional<at::Device>& device) {
  const Messages messages(peer);
  const auto metadata = messages.take_metadata(device);
  const auto storage = messages.take_storage(storage_bytes(metadata, peer.group_rank));
  return build(metadata, storage, peer.group_rank);
}

}  // namespace tdref
