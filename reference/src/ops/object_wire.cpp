// SPDX-License-Identifier: BSD-3-Clause
#include "ops/object_wire.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/util/StringUtil.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "codec/bytes.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/storage_extent.h"
#include "codec/value_fields.h"
#include "group/work.h"
#include "ops/pickle_message.h"

namespace tdref {
namespace {

constexpr int kTag = 0;
constexpr const char* kTensorClass = "_tensorclass_type";
constexpr const char* kStructure = "the metadata of a tensordict and its consolidated storage";

std::optional<Value> name_of_class(const TensorDictBase& td) {
  const auto* tensorclass = td.as<TensorClass>();
  if (tensorclass == nullptr) {
    return std::nullopt;
  }
  const auto& [module, name] = tensorclass->cls();
  return c10::str(module, '.', name);
}

Value describe(const TensorDictBase& consolidated) {
  auto metadata = consolidated_metadata(consolidated);
  const auto total = consolidated.consolidated().storage.numel();
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_NOT_IMPLEMENTED(extent == total,
                              "the consolidated storage has ",
                              total,
                              " bytes, but its last leaf ends at byte ",
                              extent,
                              "; allowed is a storage that ends there");
  add_about_the_root(metadata, kTotalBytes, total);
  add_about_the_root(metadata, kTensorClass, name_of_class(consolidated));
  return metadata;
}

at::Tensor write_metadata(const TensorDictBase& consolidated) {
  const auto pickle = pickle_value(describe(consolidated));
  TORCH_CHECK_VALUE(pickle.size() <= kMaxMetadataBytes,
                    "the metadata of a tensordict has ",
                    pickle.size(),
                    " bytes; allowed are at most ",
                    kMaxMetadataBytes);
  return pickle_message(pickle);
}

std::string announces(const Peer& peer) {
  return c10::str("group rank ", peer.group_rank, " announces ");
}

PythonClass class_named(const std::string& text, const Peer& peer) {
  const auto stop = text.rfind('.');
  TORCH_CHECK_VALUE(stop != std::string::npos && stop > 0 && stop + 1 < text.size(),
                    announces(peer),
                    "the tensorclass '",
                    text,
                    "'; allowed are a module, a full stop and a name");
  return {text.substr(0, stop), text.substr(stop + 1)};
}

AnyTensorDict build(const Value& metadata, const at::Tensor& storage, const Peer& peer) {
  auto td = rebuild(metadata, storage);
  const auto* tensorclass = metadata.find(kTensorClass);
  if (tensorclass == nullptr) {
    return td;
  }
  const auto& name = text(*tensorclass, "a tensorclass");
  const auto cls = class_named(name, peer);
  auto* contents = td->as<TensorDict>();
  TORCH_CHECK_NOT_IMPLEMENTED(contents != nullptr,
                              announces(peer),
                              "the tensorclass '",
                              name,
                              "' that holds a ",
                              text(any_field(metadata, "cls"), "a class"),
                              "; allowed is a TensorDict");
  return TensorClass(cls, std::move(*contents));
}

// What a storage takes may be anything; the allocator refuses what no process can have.
at::Tensor allocate(std::int64_t bytes, const char* what, const Peer& peer) {
  try {
    return at::empty({bytes}, at::kByte);
  } catch (const c10::Error&) {
    TORCH_CHECK_VALUE(
        false, announces(peer), what, " of ", bytes, " bytes, which cannot be allocated");
  }
}

/// Takes the messages of one peer one after the other, until a deadline.
class Messages {
 public:
  explicit Messages(const Peer& peer)
      : peer_(peer), deadline_(std::chrono::steady_clock::now() + peer.group.timeout()) {}

  /// Takes the first two messages, once the other end is known to send the third too.
  Value take_metadata() const {
    const auto message = take(take_size(), "metadata");
    const auto pickle = as_bytes(message);
    auto metadata = unpickle_value(pickle);
    note_unpickled(pickle);
    return metadata;
  }

  at::Tensor take_storage(std::int64_t bytes) const { return take(bytes, "a storage"); }

 private:
  std::int64_t take_size() const {
    // Where nothing arrives although a message does, the size is none.
    const auto size = at::full({1}, -1, at::kLong);
    complete({peer_, Side::kReceives, {{{}, kTag, size}}, kTag, kStructure});
    const auto bytes = size.item<std::int64_t>();
    TORCH_CHECK_VALUE(0 <= bytes && bytes <= static_cast<std::int64_t>(kMaxMetadataBytes),
                      announces(peer_),
                      "metadata of ",
                      bytes,
                      " bytes; allowed are 0 to ",
                      kMaxMetadataBytes);
    return bytes;
  }

  at::Tensor take(std::int64_t bytes, const char* what) const {
    auto message = allocate(bytes, what, peer_);
    peer_.group.irecv(message, peer_.group_rank, kTag).wait(time_left(deadline_));
    return message;
  }

  const Peer& peer_;
  std::chrono::steady_clock::time_point deadline_;
};

// Called before the storage is made, which would otherwise be as large as anybody says.
std::int64_t storage_bytes(const Value& metadata, const Peer& peer) {
  const auto total = field<std::int64_t>(metadata, kTotalBytes);
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_VALUE(total == extent,
                    announces(peer),
                    "a storage of ",
                    total,
                    " bytes, but its last leaf ends at byte ",
                    extent);
  return total;
}

}  // namespace

Transfer plan_object_send(const Peer& peer, const TensorDictBase& td) {
  return plan_with({peer, Side::kSends, {}, kTag, kStructure}, [&](Transfer& transfer) {
    const auto consolidated = consolidate(td);
    const auto metadata = write_metadata(*consolidated);
    for (const auto& message : {at::full({1}, metadata.numel(), at::kLong),
                                metadata,
                                consolidated->consolidated().storage}) {
      transfer.messages.push_back({{}, kTag, message});
    }
  });
}

AnyTensorDict receive_object(const Peer& peer) {
  const Messages messages(peer);
  const auto metadata = messages.take_metadata();
  const auto storage = messages.take_storage(storage_bytes(metadata, peer));
  return build(metadata, storage, peer);
}

}  // namespace tdref
