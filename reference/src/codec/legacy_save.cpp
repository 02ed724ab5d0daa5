// SPDX-License-Identifier: BSD-3-Clause
#include "codec/legacy_save.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "codec/dtype_names.h"
#include "codec/pickle_reader.h"
#include "codec/pickle_writer.h"
#include "codec/value_fields.h"
#include "codec/value_pickle.h"

namespace tdref {
namespace {

// torch.serialization.MAGIC_NUMBER has more than 64 bits, so its pickle is compared as it is.
constexpr std::string_view kPickledMagic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
constexpr std::int64_t kProtocolVersion = 1001;
constexpr const char* kKey = "0";

void check(bool condition, const char* problem) {
  TORCH_CHECK_VALUE(condition, "malformed torch.save stream: ", problem);
}

std::string pickled(const Value& value) {
  PickleWriter writer;
  write_value(writer, value);
  return std::move(writer).finish();
}

std::string pickled_storage_id(const at::Tensor& elements) {
  PickleWriter writer;
  writer.begin_tuple();
  writer.text("storage");
  writer.global("torch", dtype_name(elements.scalar_type()).storage_class);
  writer.text(kKey);
  writer.text("cpu");
  writer.integer(elements.numel());
  writer.none();
  writer.end_tuple();
  writer.persistent();
  return std::move(writer).finish();
}

Value take_value(std::string_view& stream) {
  return to_value(take_pickle(stream));
}

at::ScalarType storage_dtype(const PickleObject::Global& cls) {
  if (cls == PickleObject::Global{"torch.storage", "UntypedStorage"}) {
    return at::kByte;
  }
  const auto* name = cls.module == "torch" ? find_storage_class(cls.name) : nullptr;
  check(name != nullptr, "unknown storage class");
  return name->dtype;
}

struct StorageId {
  at::ScalarType dtype;
  std::string_view key;
  std::int64_t count;
};

StorageId take_storage_id(std::string_view& stream) {
  const auto objects = take_pickle(stream);
  const auto& id = objects.get<PickleObject::Persistent>(objects.root(), "a storage").id;
  const auto& fields = objects.get<PickleObject::Tuple>(id, "a storage").items;
  check(fields.size() == 6 && objects.text(fields[0], "a storage") == "storage", "not a storage");
  check(objects.text(fields[3], "a location") == "cpu", "the storage is not on the CPU");
  check(objects.get_if<std::monostate>(fields[5]) != nullptr, "storage views are not supported");
  return {storage_dtype(objects.get<PickleObject::Global>(fields[1], "a storage class")),
          objects.text(fields[2], "a storage key"),
          objects.get<std::int64_t>(fields[4], "an element count")};
}

}  // namespace

std::string save_storage(const at::Tensor& elements) {
  const std::int64_t count = elements.numel();
  std::string stream(kPickledMagic);
  stream += pickled(kProtocolVersion);
  stream +=
      pickled(Value::Dict{{"protocol_version", kProtocolVersion},
                          {"little_endian", true},
                          {"type_sizes", Value::Dict{{"short", 2}, {"int", 4}, {"long", 4}}}});
  stream += pickled_storage_id(elements);
  stream += pickled(Value::List{kKey});
  stream.append(reinterpret_cast<const char*>(&count), sizeof(count));
  stream.append(static_cast<const char*>(elements.const_data_ptr()), elements.nbytes());
  return stream;
}

at::Tensor load_storage(std::string_view stream) {
  check(stream.starts_with(kPickledMagic), "no magic number");
  stream.remove_prefix(kPickledMagic.size());
  check(take_value(stream) == Value(kProtocolVersion), "unknown protocol version");
  check(field<bool>(take_value(stream), "little_endian"), "big-endian data");
  const auto id = take_storage_id(stream);
  check(take_value(stream) == Value(Value::List{std::string(id.key)}), "not exactly one storage");

  std::int64_t count = 0;
  check(stream.size() >= sizeof(count), "truncated");
  std::memcpy(&count, stream.data(), sizeof(count));
  stream.remove_prefix(sizeof(count));
  check(count == id.count && count >= 0 &&
            bytes_of({count}, static_cast<std::int64_t>(c10::elementSize(id.dtype))) ==
                static_cast<std::int64_t>(stream.size()),
        "the element count does not match the bytes");
  const auto elements = at::empty({count}, id.dtype);
  if (!stream.empty()) {
    std::memcpy(elements.mutable_data_ptr(), stream.data(), stream.size());
  }
  return elements;
}

}  // namespace tdref
