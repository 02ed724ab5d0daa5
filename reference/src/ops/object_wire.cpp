// SPDX-License-Identifier: BSD-3-Clause
#include "ops/object_wire.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/util/StringUtil.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <chrono>
#include <string>
#include <utility>

#include "codec/observer.h"
#include "codec/storage_extent.h"
#include "codec/value_fields.h"
#include "group/work.h"
#include "ops/pickle_message.h"

namespace tdref {
namespace {

constexpr int kTag = 0;
const std::string kTotalBytes = "_total_bytes";
const std::string kTensorClass = "_tensorclass_type";
constexpr const char* kStructure = "the metadata of a tensordict and its consolidated storage";

// The metadata of a root does not name its class, so that a tensorclass stands beside it.
Value describe(const TensorDictBase& consolidated) {
  auto metadata = consolidated_metadata(consolidated);
  auto& fields = *metadata.get_if<Value::Dict>();
  fields.emplace_back(kTotalBytes, consolidated.consolidated().storage.numel());
  if (const auto* tensorclass = consolidated.as<TensorClass>()) {
    const auto& [module, name] = tensorclass->cls();
    fields.emplace_back(kTensorClass, c10::str(module, '.', name));
  }
  return metadata;
}

PythonClass class_named(const std::string& text) {
  const auto stop = text.rfind('.');
  TORCH_CHECK_VALUE(stop != std::string::npos && stop > 0 && stop + 1 < text.size(),
                    "metadata names the tensorclass '",
                    text,
                    "'; allowed are a module, a full stop and a name");
  return {text.substr(0, stop), text.substr(stop + 1)};
}

AnyTensorDict build(const Value& metadata, const at::Tensor& storage) {
  auto td = rebuild(metadata, storage);
  const auto* name = metadata.find(kTensorClass);
  if (name == nullptr) {
    return td;
  }
  auto* contents = td->as<TensorDict>();
  TORCH_CHECK_NOT_IMPLEMENTED(contents != nullptr,
                              "a tensorclass that holds another kind than a TensorDict");
  return TensorClass(class_named(text(*name, "a tensorclass")), std::move(*contents));
}

// What the peer announces may be anything; the allocator refuses what no process can have.
at::Tensor allocate(std::int64_t bytes, const char* what, const Peer& peer) {
  const auto announced =
      c10::str("group rank ", peer.group_rank, " announces ", what, " of ", bytes, " bytes");
  TORCH_CHECK_VALUE(bytes >= 0, announced, "; allowed are 0 and more");
  try {
    return at::empty({bytes}, at::kByte);
  } catch (const c10::Error&) {
    TORCH_CHECK_VALUE(false, announced, ", which cannot be allocated");
  }
}

/// Takes the messages of one peer one after the other, until a deadline.
class Messages {
 public:
  explicit Messages(const Peer& peer)
      : peer_(peer), deadline_(std::chrono::steady_clock::now() + peer.group.timeout()) {}

  /// Takes the first message, once the other end is known to send the others too.
  std::int64_t take_size() const {
    // Where nothing arrives although a message does, the size is none.
    const auto size = at::full({1}, -1, at::kLong);
    complete({peer_, Side::kReceives, {{{}, kTag, size}}, kTag, kStructure});
    return size.item<std::int64_t>();
  }

  at::Tensor take(std::int64_t bytes, const char* what) const {
    auto message = allocate(bytes, what, peer_);
    peer_.group.irecv(message, peer_.group_rank, kTag).wait(time_left(deadline_));
    return message;
  }

 private:
  const Peer& peer_;
  std::chrono::steady_clock::time_point deadline_;
};

Value read_metadata(const at::Tensor& pickle) {
  auto metadata = unpickle_value(as_bytes(pickle));
  if (Observer* observer = current_observer()) {
    observer->unpickled(pickle.nbytes());
  }
  return metadata;
}

// Called before the storage is made, which would otherwise be as large as anybody says.
std::int64_t storage_bytes(const Value& metadata, const Peer& peer) {
  const auto total = field<std::int64_t>(metadata, kTotalBytes);
  const auto extent = storage_extent(metadata);
  TORCH_CHECK_VALUE(extent <= total,
                    "group rank ",
                    peer.group_rank,
                    " announces a storage of ",
                    total,
                    " bytes, but its last leaf ends at byte ",
                    extent);
  return total;
}

}  // namespace

Transfer plan_described_send(const Peer& peer, const TensorDictBase& td) {
  return plan_with({peer, Side::kSends, {}, kTag, kStructure}, [&](Transfer& transfer) {
    const auto consolidated = consolidate(td);
    const auto pickle = pickle_message(pickle_value(describe(*consolidated)));
    for (const auto& message :
         {at::full({1}, pickle.numel(), at::kLong), pickle, consolidated->consolidated().storage}) {
      transfer.messages.push_back({{}, kTag, message});
    }
  });
}

AnyTensorDict receive_described(const Peer& peer) {
  const Messages messages(peer);
  const auto metadata = read_metadata(messages.take(messages.take_size(), "metadata"));
  const auto storage = messages.take(storage_bytes(metadata, peer), "a storage");
  return build(metadata, storage);
}

}  // namespace tdref
