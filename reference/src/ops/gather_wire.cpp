// SPDX-License-Identifier: BSD-3-Clause
#include "ops/gather_wire.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/block.h"
#include "codec/bytes.h"
#include "codec/layout.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/pack.h"
#include "ops/padding.h"
#include "ops/pickle_message.h"
#include "tree/walk.h"

namespace tdref {
namespace {

constexpr auto kMaxMetadata = static_cast<std::int64_t>(kMaxMetadataBytes);

// A storage keeps the elements, but neither history, device, layout nor class of the leaves, nor
// the file of a persistent tensordict.
bool is_kept_by_a_storage(const TensorDictBase& td) {
  if (holds_persistent(td)) {
    return false;
  }
  bool kept = true;
  for_each_leaf(td, [&](const KeyPath&, const Entry& entry) {
    const auto* leaf = entry.leaf();
    kept = kept && leaf != nullptr && (leaf->cls == kTensor || leaf->cls == kMemoryMappedTensor) &&
           !leaf->tensor.requires_grad() && leaf->tensor.device().is_cpu() &&
           leaf->tensor.layout() == at::kStrided && !leaf->tensor.is_nested();
  });
  return kept;
}

std::optional<GatherMessage> encode_packed(const TensorDictBase& td) {
  const auto& storage = td.consolidated().storage;
  const auto pickle = pickle_value(consolidated_metadata(td));
  if (pickle.size() > kMaxMetadataBytes) {
    return std::nullopt;
  }
  return GatherMessage{
      GatherKind::kStorage, storage.numel(), at::cat({storage, pickle_message(pickle)})};
}

// Packs the leaves where they travel from.
std::optional<GatherMessage> encode_packing(const TensorDictBase& td) {
  const auto layout = lay_out(td);
  check_aligned(td, layout);
  const auto pickle = pickle_value(metadata_at(td, layout));
  if (pickle.size() > kMaxMetadataBytes) {
    return std::nullopt;
  }
  const auto metadata_bytes = static_cast<std::int64_t>(pickle.size());
  auto buffer = new_block(layout.total_bytes + metadata_bytes);
  pack_into(buffer, td, layout);
  std::memcpy(
      buffer.mutable_data_ptr<std::uint8_t>() + layout.total_bytes, pickle.data(), pickle.size());
  note_pickled(pickle);
  return GatherMessage{GatherKind::kStorage, layout.total_bytes, std::move(buffer)};
}

std::optional<GatherMessage> encode_storage(const TensorDictBase& td) {
  if (!is_kept_by_a_storage(td)) {
    return std::nullopt;
  }
  try {
    return td.is_consolidated() ? encode_packed(td) : encode_packing(td);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;  // the pickle may still work
  }
}

struct Header {
  GatherKind kind;
  std::int64_t storage_bytes;
  std::int64_t total_bytes;
};

bool makes_sense(const Header& header) {
  if (header.storage_bytes < 0 || header.total_bytes < header.storage_bytes) {
    return false;
  }
  switch (header.kind) {
    case GatherKind::kNothing:
      return header.total_bytes == 0;
    case GatherKind::kPickle:
      return header.storage_bytes == 0;
    case GatherKind::kStorage:  // with the metadata behind it
      return header.total_bytes - header.storage_bytes <= kMaxMetadata;
  }
  return false;
}

Header read_header(const at::Tensor& tensor, GatherWire wire, std::size_t group_rank) {
  const auto* numbers = tensor.const_data_ptr<std::int64_t>();
  const bool is_object = wire == GatherWire::kObjects;
  const Header header{
      is_object ? GatherKind::kPickle : static_cast<GatherKind>(numbers[0]),
      is_object ? 0 : numbers[1],
      is_object ? numbers[0] : numbers[2],
  };
  TORCH_CHECK_VALUE(makes_sense(header),
                    "group rank ",
                    group_rank,
                    " sent a header of gather_and_stack that makes no sense: ",
                    c10::ArrayRef<std::int64_t>(numbers, static_cast<std::size_t>(tensor.numel())));
  return header;
}

// A message cannot be looked at before it is there, and whoever holds it may be another rank than
// the one that pays for it: all must have room for what any of them announces.
void check_room(const Header& header, std::size_t group_rank, int ranks) {
  static const auto kMemory = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  TORCH_CHECK_VALUE(header.total_bytes <= kMemory / ranks,
                    "group rank ",
                    group_rank,
                    " announces a message of gather_and_stack of ",
                    header.total_bytes,
                    " bytes; allowed are ",
                    kMemory / ranks,
                    ", the memory of this machine for each of ",
                    ranks,
                    " ranks");
}

}  // namespace

GatherWire gather_wire_for(const std::string& backend) {
  return backend == "gloo" ? GatherWire::kStorages : GatherWire::kObjects;
}

GatherMessage encode(const TensorDictBase& td, GatherWire wire) {
  if (wire == GatherWire::kStorages) {
    if (auto message = encode_storage(td)) {
      return *std::move(message);
    }
  }
  // A pickle would name the class that a row does not.
  const auto* tensorclass = td.as<TensorClass>();
  const TensorDictBase& contents = tensorclass == nullptr ? td : tensorclass->contents();
  return {GatherKind::kPickle, 0, pickle_message(pickle_tensordict(contents))};
}

at::Tensor header_of(const GatherMessage& message, GatherWire wire) {
  const auto total = message.buffer.defined() ? message.buffer.numel() : 0;
  return wire == GatherWire::kObjects
             ? at::tensor({total}, at::kLong)
             : at::tensor({static_cast<std::int64_t>(message.kind), message.storage_bytes, total},
                          at::kLong);
}

std::vector<GatherMessage> gather_messages(const Group& group,
                                           int group_dst,
                                           GatherWire wire,
                                           const GatherMessage& message) {
  std::vector<Header> headers;
  std::int64_t largest = 0;
  for (const auto& header : group.all_gather(header_of(message, wire))) {
    headers.push_back(read_header(header, wire, headers.size()));
    check_room(headers.back(), headers.size() - 1, group.size());
    largest = std::max(largest, headers.back().total_bytes);
  }
  const auto own = message.buffer.defined() ? message.buffer : at::empty({0}, at::kByte);
  std::vector<GatherMessage> messages;
  for (const auto& buffer : group.gather(padded(own, largest), group_dst)) {
    const auto& header = headers[messages.size()];
    messages.push_back(
        {header.kind, header.storage_bytes, buffer.narrow(0, 0, header.total_bytes)});
  }
  return messages;
}

AnyTensorDict decode(const GatherMessage& message, int group_rank) {
  TORCH_CHECK_VALUE(message.kind != GatherKind::kNothing && message.buffer.numel() > 0,
                    "group rank ",
                    group_rank,
                    " sent no tensordict: it could not encode its own");
  const bool is_pickle = message.kind == GatherKind::kPickle;
  const auto storage_bytes = is_pickle ? 0 : message.storage_bytes;
  const auto pickle = as_bytes(message.buffer).substr(static_cast<std::size_t>(storage_bytes));
  AnyTensorDict row =
      is_pickle ? unpickle_tensordict(pickle)
                : rebuild(unpickle_value(pickle), message.buffer.narrow(0, 0, storage_bytes));
  note_unpickled(pickle);
  return row;
}

}  // namespace tdref
