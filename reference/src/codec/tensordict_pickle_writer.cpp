// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <optional>

#include "codec/tensor_pickle.h"
#include "codec/value_pickle.h"

namespace tdref {
namespace {

class TensorDictWriter {
 public:
  std::string finish() && { return std::move(writer_).finish(); }

  void write(const TensorDict& td) {
    begin_make();
    writer_.text("_tensordict");
    writer_.begin_dict();
    for (const auto& [key, value] : td.items()) {
      path_.push_back(key);
      writer_.text(key);
      write_entry(td, value);
      path_.pop_back();
    }
    writer_.end_dict();
    write_common_state(td.batch_size(), td.device());
    writer_.text("_td_dim_names");
    write_names(td.names());
    if (td.is_locked()) {
      writer_.text("_is_locked");
      writer_.boolean(true);
    }
    end_make();
  }

  void write_consolidated(const Value& metadata, const at::Tensor& storage) {
    writer_.global("tensordict._reductions", "_rebuild_tensordict_files_consolidated");
    writer_.begin_tuple();
    write_value(writer_, metadata);
    write_tensor(writer_, storage);
    writer_.end_tuple();
    writer_.reduce();
  }

 private:
  void begin_make() {
    writer_.global("tensordict._reductions", "_make_td");
    writer_.begin_tuple();
    writer_.global("tensordict._td", "TensorDict");
    writer_.begin_dict();
  }
  void end_make() {
    writer_.end_dict();
    writer_.end_tuple();
    writer_.reduce();
  }

  void write_common_state(c10::IntArrayRef batch_size, const std::optional<at::Device>& device) {
    writer_.text("_device");
    write_device(device);
    writer_.text("_batch_size");
    write_sizes(writer_, batch_size);
  }

  void write_entry(const TensorDict& parent, const Entry& entry) {
    if (const auto* leaf = entry.leaf()) {
      write_leaf(writer_, path_, *leaf);
    } else if (const auto* nested = entry.nested()) {
      write(*nested);
    } else if (entry.non_tensor()->stacked) {
      write_stack(parent, *entry.non_tensor()->data.get_if<Value::List>());
    } else {
      write_data(entry.non_tensor()->data, parent.batch_size(), parent.device());
    }
  }

  // NonTensorData: an empty tensordict beside the data.
  void write_data(const Value& data,
                  c10::IntArrayRef batch_size,
                  const std::optional<at::Device>& device) {
    begin_object("NonTensorData");
    writer_.text("tensordict");
    begin_make();
    writer_.text("_tensordict");
    writer_.begin_dict();
    writer_.end_dict();
    write_common_state(batch_size, device);
    writer_.text("_td_dim_names");
    writer_.none();
    end_make();
    writer_.text("non_tensordict");
    write_value(writer_, Value::Dict{{"data", data}, {"_metadata", {}}, {"_is_non_tensor", true}});
    end_object();
  }

  void write_stack(const TensorDict& parent, const Value::List& members) {
    begin_object("NonTensorStack");
    writer_.text("_is_locked");
    writer_.none();
    writer_.text("stack_dim");
    writer_.integer(0);
    writer_.text("_batch_size");
    write_sizes(writer_, parent.batch_size());
    writer_.text("tensordicts");
    writer_.begin_list();
    for (const auto& member : members) {
      write_data(member, c10::IntArrayRef(parent.batch_size()).slice(1), parent.device());
    }
    writer_.end_list();
    for (const char* hook : {"_hook_out", "_hook_in"}) {
      writer_.text(hook);
      writer_.none();
    }
    end_object();
  }

  void begin_object(const char* cls) {
    writer_.global("tensordict.tensorclass", cls);
    writer_.begin_tuple();
    writer_.end_tuple();
    writer_.new_object();
    writer_.begin_dict();
  }
  void end_object() {
    writer_.end_dict();
    writer_.build();
  }

  void write_device(const std::optional<at::Device>& device) {
    if (!device.has_value()) {
      return writer_.none();
    }
    writer_.global("torch", "device");
    writer_.begin_tuple();
    writer_.text(device->str());
    writer_.end_tuple();
    writer_.reduce();
  }

  void write_names(const DimNames& names) {
    if (names.empty()) {
      return writer_.none();
    }
    writer_.begin_list();
    for (const auto& name : names) {
      name.has_value() ? writer_.text(*name) : writer_.none();
    }
    writer_.end_list();
  }

  PickleWriter writer_;
  KeyPath path_;
};

std::optional<Value> metadata_if_it_can_be_named(const TensorDict& td) {
  if (!td.is_consolidated()) {
    return std::nullopt;
  }
  try {
    return consolidated_metadata(td);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string pickle_tensordict(const TensorDict& td) {
  TensorDictWriter writer;
  if (const auto metadata = metadata_if_it_can_be_named(td)) {
    writer.write_consolidated(*metadata, td.consolidated().storage);
  } else {
    writer.write(td);
  }
  return std::move(writer).finish();
}

}  // namespace tdref
