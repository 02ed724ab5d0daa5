// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/broadcast.h>
#include <tdref/consolidate.h>

#include <utility>

#include "ops/collective.h"
#include "ops/device.h"
#include "ops/object_message.h"

namespace tdref {
namespace {

constexpr const char* kCall = "broadcast";

/// What rank src sends; on the others only the size has a place already.
struct Outgoing {
  int group_src = 0;
  ObjectMessage message{.size = size_message()};
  std::optional<AnyTensorDict> td;
};

MetadataItems items_of(const TensorDictBase& consolidated) {
  auto items = class_of(consolidated);
  items.emplace_back(kStorageDevice, consolidated.consolidated().storage.device().str());
  return items;
}

// Checks everything before anything is sent, and waits for the other ranks to have done so.
Outgoing prepare(const Group& group, const TensorDictBase& td, const BroadcastOptions& options) {
  Outgoing outgoing;
  const int self = group.group_rank();
  agree(plan_collective({.group = group, .operation = kCall}, [&](Collective& collective) {
    outgoing.group_src = group.group_rank_of(options.src);
    collective.operation += c10::str(" from group rank ", outgoing.group_src);
    check_served(options.device);
    if (self == outgoing.group_src) {
      outgoing.td = consolidate(td);
      outgoing.message = object_message(**outgoing.td, items_of(**outgoing.td));
    }
    collective.call = kCall;
    collective.group_root = outgoing.group_src;
    collective.messages = {{{}, 0, outgoing.message.size}};
  }));
  return outgoing;
}

AnyTensorDict receive(const Group& group,
                      const Outgoing& outgoing,
                      const BroadcastOptions& options) {
  const int src = outgoing.group_src;
  group.broadcast(outgoing.message.size, src);
  const auto bytes = outgoing.message.size.item<std::int64_t>();
  check_metadata_bytes(bytes, src);
  const auto pickle = allocate(bytes, "metadata", src);
  group.broadcast(pickle, src);
  const auto metadata = read_metadata(pickle);
  check_storage_device(metadata, options.device, src);
  const auto storage = allocate(storage_bytes(metadata, src), "a storage", src);
  group.broadcast(storage, src);
  return build(metadata, storage, src);
}

}  // namespace

BroadcastResult broadcast(const World& world,
                          const TensorDictBase& td,
                          const BroadcastOptions& options) {
  const Group& group = world.group_or_default(options.group);
  auto outgoing = prepare(group, td, options);
  if (!outgoing.td.has_value()) {
    return receive(group, outgoing, options);
  }
  const auto& [size, metadata, storage] = outgoing.message;
  for (const auto& message : {size, metadata, storage}) {
    group.broadcast(message, outgoing.group_src);
  }
  if (td.is_consolidated()) {
    return &td;
  }
  return *std::move(outgoing.td);
}

}  // namespace tdref
