// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <tdref/consolidate.h>
#include <tdref/pipe.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "codec/rebuild.h"
#include "pipe/endpoint.h"
#include "pipe/schema.h"
#include "tree/jagged.h"

namespace tdref {
namespace {

enum class Flag : std::uint8_t { kNewSchema = 0, kSameSchema = 1 };

Deadline deadline_of(const PipeOptions& options) {
  return Deadline(options.timeout);
}

template <typename T>
T receive_number(Endpoint& endpoint, Deadline deadline) {
  T number{};
  endpoint.receive(writable_bytes_of(number), deadline);
  return number;
}

MutableBytes bytes_in(const at::Tensor& storage) {
  return {static_cast<std::byte*>(storage.mutable_data_ptr()),
          static_cast<std::size_t>(storage.numel())};
}

bool fits(const TensorDictBase& td, const Schema& schema) {
  if (!td.is_consolidated()) {
    return false;
  }
  try {
    return schema_of(td) == schema;
  } catch (const c10::Error&) {
    // What could not be sent has the structure of nothing that was.
    return false;
  }
}

}  // namespace

class TensorDictPipe::Impl {
 public:
  Impl(std::unique_ptr<Endpoint> endpoint, PipeOptions options)
      : endpoint_(std::move(endpoint)), options_(options) {}

  void send(const TensorDictBase& td) {
    check_open("send on");
    const AnyTensorDict consolidated = consolidate(td);
    Schema schema = schema_of(*consolidated);
    const bool is_new = sent_ != schema;
    const std::string json = is_new ? schema_to_json(schema) : "";
    sent_ = std::move(schema);
    or_close([&](Deadline deadline) {
      send_structure(is_new, json, deadline);
      endpoint_->send(bytes_in(consolidated->consolidated().storage), deadline);
    });
  }

  AnyTensorDict recv(const TensorDictBase* td) {
    check_open("recv on");
    or_close([&](Deadline deadline) {
      const auto flag = receive_number<Flag>(*endpoint_, deadline);
      if (flag == Flag::kNewSchema) {
        receive_new(td, deadline);
      } else {
        TORCH_CHECK_VALUE(flag == Flag::kSameSchema,
                          "a message through a pipe begins with 0 or 1, got ",
                          static_cast<int>(flag));
        receive_same(td, deadline);
      }
    });
    return *received_;
  }

  void close() {
    if (endpoint_ != nullptr) {
      or_close([&](Deadline deadline) { endpoint_->flush(deadline); });
      endpoint_.reset();
    }
  }

  bool closed() const { return endpoint_ == nullptr; }

 private:
  void check_open(const char* what) const {
    TORCH_CHECK(!closed(), "cannot ", what, " a closed pipe");
  }

  /// Sends or receives one tensordict, or closes the pipe: half of one leaves no way to go on.
  template <typename Transfer>
  void or_close(Transfer transfer) {
    try {
      transfer(deadline_of(options_));
    } catch (...) {
      endpoint_.reset();
      throw;
    }
  }

  void send_structure(bool is_new, const std::string& json, Deadline deadline) {
    const Flag flag = is_new ? Flag::kNewSchema : Flag::kSameSchema;
    endpoint_->send(bytes_of(flag), deadline);
    if (is_new) {
      endpoint_->send(bytes_of(std::uint64_t{json.size()}), deadline);
      endpoint_->send(std::as_bytes(std::span(json)), deadline);
    }
  }

  void receive_new(const TensorDictBase* td, Deadline deadline) {
    schema_ = receive_schema(deadline);
    if (td != nullptr && fits(*td, schema_)) {
      received_ = AnyTensorDict(*td);
      receive_storage(deadline);
      return;
    }
    // Memory is taken only page by page as data comes, and only once all offsets are known to lie
    // within the storage and a message of its size has begun to arrive.
    check_announced(endpoint_->next_size(deadline));
    received_ = rebuild_unread(schema_.metadata, at::empty({schema_.total_bytes}, at::kByte));
    receive_storage(deadline);
  }

  void receive_same(const TensorDictBase* td, Deadline deadline) {
    TORCH_CHECK(received_.has_value(),
                "the peer says that the structure is that of the tensordict before, and there was "
                "none");
    if (td != nullptr && fits(*td, schema_)) {
      received_ = AnyTensorDict(*td);
    }
    receive_storage(deadline);
  }

  Schema receive_schema(Deadline deadline) {
    const auto size = receive_number<std::uint64_t>(*endpoint_, deadline);
    TORCH_CHECK_VALUE(size <= kMaxMetadataBytes,
                      "the peer announces metadata of ",
                      size,
                      " bytes; a pipe takes at most ",
                      kMaxMetadataBytes);
    TORCH_CHECK_VALUE(endpoint_->next_size(deadline) == size,
                      "the peer announces metadata of ",
                      size,
                      " bytes and sends ",
                      endpoint_->next_size(deadline));
    std::string json(size, '\0');
    endpoint_->receive(std::as_writable_bytes(std::span(json)), deadline);
    return schema_from_json(json);
  }

  void check_announced(std::size_t sent) const {
    TORCH_CHECK_VALUE(schema_.total_bytes <= options_.max_storage_bytes,
                      "the peer announces a storage of ",
                      schema_.total_bytes,
                      " bytes; max_storage_bytes allows ",
                      options_.max_storage_bytes);
    TORCH_CHECK_VALUE(sent == static_cast<std::size_t>(schema_.total_bytes),
                      "the peer announces a storage of ",
                      schema_.total_bytes,
                      " bytes and sends ",
                      sent);
  }

  void receive_storage(Deadline deadline) {
    endpoint_->receive(bytes_in((*received_)->consolidated().storage), deadline);
    check_rows(**received_);
  }

  std::unique_ptr<Endpoint> endpoint_;
  PipeOptions options_;
  std::optional<Schema> sent_;
  Schema schema_;
  std::optional<AnyTensorDict> received_;
};

TensorDictPipe::TensorDictPipe(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TensorDictPipe::TensorDictPipe(TensorDictPipe&&) noexcept = default;
TensorDictPipe& TensorDictPipe::operator=(TensorDictPipe&&) noexcept = default;
TensorDictPipe::~TensorDictPipe() = default;

TensorDictPipe TensorDictPipe::connect(const std::string& host,
                                       std::uint16_t port,
                                       const PipeOptions& options) {
  return TensorDictPipe(
      std::make_unique<Impl>(Endpoint::connect(host, port, deadline_of(options)), options));
}

TensorDictPipe TensorDictPipe::listen(std::uint16_t port,
                                      const ListenOptions& listening,
                                      const PipeOptions& options) {
  return TensorDictPipe(std::make_unique<Impl>(
      Endpoint::accept(listening.host, port, listening.on_listening, deadline_of(options)),
      options));
}

void TensorDictPipe::send(const TensorDictBase& td) {
  impl_->send(td);
}

AnyTensorDict TensorDictPipe::recv() {
  return impl_->recv(nullptr);
}

AnyTensorDict TensorDictPipe::recv(const TensorDictBase& td) {
  return impl_->recv(&td);
}

void TensorDictPipe::close() {
  impl_->close();
}

bool TensorDictPipe::closed() const {
  return impl_->closed();
}

void send(TensorDictPipe& dst, const TensorDictBase& td, const SendOptions& options) {
  TORCH_CHECK_VALUE(!options.dst.has_value(), "send: `dst` is the pipe, it cannot be a rank too");
  TORCH_CHECK_VALUE(!options.group_dst.has_value(),
                    "send: `group_dst` cannot be used when `dst` is a TensorDictPipe");
  dst.send(td);
}

AnyTensorDict recv(TensorDictPipe& src, const TensorDictBase& td, const RecvOptions& options) {
  TORCH_CHECK_VALUE(!options.src.has_value(), "recv: `src` is the pipe, it cannot be a rank too");
  TORCH_CHECK_VALUE(!options.group_src.has_value(),
                    "recv: `group_src` cannot be used when `src` is a TensorDictPipe");
  return src.recv(td);
}

}  // namespace tdref
