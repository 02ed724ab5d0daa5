// SPDX-License-Identifier: BSD-3-Clause
#include "codec/persistent_pickle.h"

#include <tdref/tensordict.h>

#include <filesystem>

#include "codec/tensor_pickle.h"

namespace tdref {
namespace {

constexpr const char* kModule = "tensordict.persistent";
constexpr const char* kClass = "PersistentTensorDict";

void write_backend(PickleWriter& writer) {
  writer.begin_object(kModule, "_H5Backend");
  for (const char* option : {"locking", "allow_pickle"}) {
    writer.text(option);
    writer.none();
  }
  writer.end_object();
}

}  // namespace

bool is_persistent(const PickledObjects& objects, ObjectId id) {
  const auto* callee = objects.callee(id);
  return callee != nullptr && *callee == PickleObject::Global{kModule, kClass};
}

PersistentTensorDict read_persistent(const PickledObjects& objects, ObjectId id) {
  const auto state = objects.get<PickleObject::Call>(id, "a persistent tensordict").state;
  TORCH_CHECK_VALUE(state.has_value(), "the pickle has a persistent tensordict without a state");
  TORCH_CHECK_VALUE(objects.text(objects.field(*state, "backend"), "a backend") == "h5",
                    "the pickle has a persistent tensordict that is not in an HDF5 file");
  return PersistentTensorDict(
      {.filename = std::string(objects.text(objects.field(*state, "filename"), "a file name")),
       .group = std::string(objects.text(objects.field(*state, "group_name"), "a group name"))},
      read_sizes(objects, objects.field(*state, "_batch_size")));
}

void write_persistent(PickleWriter& writer, const PersistentTensorDict& td) {
  writer.begin_object(kModule, kClass);
  const auto write_none = [&](const char* key) {
    writer.text(key);
    writer.none();
  };
  const auto write_false = [&](const char* key) {
    writer.text(key);
    writer.boolean(false);
  };
  const auto write_text = [&](const char* key, const std::string& text) {
    writer.text(key);
    writer.text(text);
  };
  writer.text("_locked_tensordicts");
  writer.begin_list();
  writer.end_list();
  writer.text("_lock_id");
  writer.empty_set();
  write_text("backend", "h5");
  writer.text("_backend");
  write_backend(writer);
  write_text("filename", std::filesystem::absolute(td.place().filename).string());
  write_text("mode", "r");
  write_none("file");
  writer.text("_batch_size");
  write_sizes(writer, td.batch_size());
  write_none("_device");
  write_false("_is_shared");
  write_false("_is_memmap");
  for (const char* key : {"_dataset_kwargs", "_nested_tensordicts"}) {
    writer.text(key);
    writer.begin_dict();
    writer.end_dict();
  }
  write_false("_pin_mem");
  write_false("_non_tensor_as_stack");
  write_none("_nested_parent");
  write_text("group_name", td.place().group);
  write_none("__lock_parents_weakrefs");
  write_none("_last_op");
  write_none("_cache");
  writer.end_object();
}

}  // namespace tdref
