// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/scatter.h>

#include <algorithm>
#include <utility>

#include "codec/value_fields.h"
#include "ops/collective.h"
#include "ops/device.h"
#include "ops/object_message.h"
#include "ops/padding.h"

namespace tdref {
namespace {

/// What rank src sends, by group rank; on the others only the size of the largest pickle has a place
/// already.
struct Outgoing {
  int group_src = 0;
  at::Tensor largest = size_message();
  std::vector<at::Tensor> pickles;
  std::vector<at::Tensor> sizes;
  std::vector<at::Tensor> storages;
};

std::int64_t largest_of(const std::vector<at::Tensor>& messages) {
  std::int64_t largest = 0;
  for (const auto& message : messages) {
    largest = std::max(largest, message.numel());
  }
  return largest;
}

void pad_alike(std::vector<at::Tensor>& messages) {
  const auto largest = largest_of(messages);
  for (auto& message : messages) {
    message = padded(message, largest);
  }
}

void check_list(const ScatterOptions& options, int size) {
  TORCH_CHECK_TYPE(options.tensordicts.has_value(),
                   "scatter needs `tensordicts` on rank src: one tensordict for each rank");
  TORCH_CHECK_VALUE(static_cast<int>(options.tensordicts->size()) == size,
                    "scatter needs one tensordict for each of the ",
                    size,
                    " ranks of the group, but `tensordicts` has ",
                    options.tensordicts->size());
}

void add_messages(Outgoing& outgoing, const std::vector<AnyTensorDict>& tensordicts) {
  std::vector<AnyTensorDict> consolidated;
  for (const auto& td : tensordicts) {
    consolidated.push_back(consolidate(*td));
    outgoing.storages.push_back(consolidated.back()->consolidated().storage);
  }
  const auto max_bytes = largest_of(outgoing.storages);
  for (const auto& td : consolidated) {
    const auto& device = td->consolidated().storage.device();
    outgoing.pickles.push_back(
        write_metadata(*td, {{kMaxBytes, max_bytes}, {kStorageDevice, device.str()}}));
    outgoing.sizes.push_back(size_message(outgoing.pickles.back().numel()));
  }
  outgoing.largest.fill_(largest_of(outgoing.pickles));
  pad_alike(outgoing.pickles);
  pad_alike(outgoing.storages);
}

// Checks everything before anything is sent, and waits for the other ranks to have done so.
Outgoing prepare(const Group& group, const ScatterOptions& options) {
  Outgoing outgoing;
  const int self = group.group_rank();
  agree(plan_collective({.group = group, .operation = "scatter"}, [&](Collective& collective) {
    outgoing.group_src = group.group_rank_of(options.src);
    collective.operation += c10::str(" from group rank ", outgoing.group_src);
    check_served(options.device);
    if (self == outgoing.group_src) {
      check_list(options, group.size());
      add_messages(outgoing, *options.tensordicts);
    }
    collective.call = "broadcast";
    collective.group_root = outgoing.group_src;
    collective.messages = {{{}, 0, outgoing.largest}};
  }));
  return outgoing;
}

Value receive_metadata(const Group& group, const Outgoing& outgoing) {
  const int src = outgoing.group_src;
  group.broadcast(outgoing.largest, src);
  const auto largest = outgoing.largest.item<std::int64_t>();
  check_metadata_bytes(largest, src);
  const auto pickle = allocate(largest, "metadata", src);
  group.scatter(pickle, outgoing.pickles, src);
  const auto size = size_message();
  group.scatter(size, outgoing.sizes, src);
  const auto bytes = size.item<std::int64_t>();
  TORCH_CHECK_VALUE(0 <= bytes && bytes <= largest,
                    "group rank ",
                    src,
                    " announces metadata of ",
                    bytes,
                    " bytes; allowed are 0 to those of the largest, ",
                    largest);
  return read_metadata(pickle.narrow(0, 0, bytes));
}

at::Tensor receive_storage(const Group& group, const Outgoing& outgoing, const Value& metadata) {
  const int src = outgoing.group_src;
  const auto bytes = storage_bytes(metadata, src);
  const auto max_bytes = field<std::int64_t>(metadata, kMaxBytes);
  TORCH_CHECK_VALUE(bytes <= max_bytes,
                    "group rank ",
                    src,
                    " announces a storage of ",
                    bytes,
                    " bytes, but ",
                    max_bytes,
                    " for the largest");
  const auto storage = allocate(max_bytes, "a storage", src);
  group.scatter(storage, outgoing.storages, src);
  return storage.narrow(0, 0, bytes);
}

}  // namespace

AnyTensorDict scatter(const World& world, const ScatterOptions& options) {
  const Group& group = world.group_or_default(options.group);
  const auto outgoing = prepare(group, options);
  const auto metadata = receive_metadata(group, outgoing);
  check_storage_device(metadata, options.device, outgoing.group_src);
  return rebuild(metadata, receive_storage(group, outgoing, metadata));
}

}  // namespace tdref
