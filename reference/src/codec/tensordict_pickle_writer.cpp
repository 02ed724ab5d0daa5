// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <functional>
#include <optional>

#include "codec/persistent_pickle.h"
#include "codec/tensor_pickle.h"
#include "codec/value_pickle.h"
#include "tree/non_tensor.h"
#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {
namespace {

class TensorDictWriter {
 public:
  std::string finish() && { return std::move(writer_).finish(); }

  void write(const TensorDictBase& td) {
    visit_kind(
        td,
        Overloaded{
            [&](const TensorDict& plain) { write_items(plain); },
            [&](const LazyStackedTensorDict& stack) { write_members(stack); },
            [&](const PersistentTensorDict& persistent) { write_persistent(writer_, persistent); },
            [&](const TensorClass& tensorclass) {
              write_object(tensorclass.cls(), [&] { write_items(tensorclass.contents()); });
            }});
  }

  // A tensorclass: its tensordict, in which its non-tensor fields are too.
  void write_object(const PythonClass& cls, const std::function<void()>& write_contents) {
    writer_.begin_object(cls.module, cls.name);
    writer_.text("tensordict");
    write_contents();
    writer_.text("non_tensordict");
    writer_.begin_dict();
    writer_.end_dict();
    writer_.end_object();
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
  void write_items(const TensorDict& td) {
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
    write_lock(td);
    end_make();
  }

  void write_members(const LazyStackedTensorDict& stack) {
    begin_make("tensordict._lazy", "LazyStackedTensorDict");
    writer_.text("stack_dim");
    writer_.integer(stack.stack_dim());
    writer_.text("_batch_size");
    write_sizes(writer_, stack.batch_size());
    writer_.text("tensordicts");
    writer_.begin_list();
    for (std::size_t i = 0; i < stack.members().size(); ++i) {
      path_.push_back(member_key(i));
      write(*stack.members()[i]);
      path_.pop_back();
    }
    writer_.end_list();
    if (const auto& name = stack.stack_dim_name()) {
      writer_.text("_td_dim_name");
      writer_.text(*name);
    }
    write_hooks();
    write_lock(stack);
    end_make();
  }

  void write_lock(const TensorDictBase& td) {
    if (td.is_locked()) {
      writer_.text("_is_locked");
      writer_.boolean(true);
    }
  }

  void write_hooks() {
    for (const char* hook : {"_hook_out", "_hook_in"}) {
      writer_.text(hook);
      writer_.none();
    }
  }

  void begin_make(const char* module = "tensordict._td", const char* cls = "TensorDict") {
    writer_.global("tensordict._reductions", "_make_td");
    writer_.begin_tuple();
    writer_.global(module, cls);
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
    } else if (const auto* jagged = entry.jagged()) {
      write_jagged(writer_, *jagged);
    } else if (const auto* nested = entry.nested()) {
      write(*nested);
    } else if (entry.non_tensor()->stacked) {
      write_stack(*entry.non_tensor(), parent.batch_size(), parent.device());
    } else {
      write_data(entry.non_tensor()->data, parent.batch_size(), parent.device());
    }
  }

  // NonTensorData: an empty tensordict beside the data.
  void write_data(const Value& data,
                  c10::IntArrayRef batch_size,
                  const std::optional<at::Device>& device) {
    writer_.begin_object("tensordict.tensorclass", "NonTensorData");
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
    writer_.end_object();
  }

  void write_stack(const NonTensor& stack,
                   c10::IntArrayRef batch_size,
                   const std::optional<at::Device>& device) {
    writer_.begin_object("tensordict.tensorclass", "NonTensorStack");
    writer_.text("_is_locked");
    writer_.none();
    writer_.text("stack_dim");
    writer_.integer(0);
    writer_.text("_batch_size");
    write_sizes(writer_, batch_size);
    writer_.text("tensordicts");
    writer_.begin_list();
    for (std::size_t i = 0; i < stack.data.get_if<Value::List>()->size(); ++i) {
      const auto row = row_of(stack, i);
      row.stacked ? write_stack(row, batch_size.slice(1), device)
                  : write_data(row.data, batch_size.slice(1), device);
    }
    writer_.end_list();
    write_hooks();
    writer_.end_object();
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

std::optional<Value> metadata_if_it_can_be_named(const TensorDictBase& td) {
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

std::string pickle_tensordict(const TensorDictBase& td) {
  TensorDictWriter writer;
  if (const auto metadata = metadata_if_it_can_be_named(td)) {
    const auto write = [&] { writer.write_consolidated(*metadata, td.consolidated().storage); };
    if (const auto* tensorclass = td.as<TensorClass>()) {
      writer.write_object(tensorclass->cls(), write);
    } else {
      write();
    }
  } else {
    writer.write(td);
  }
  return std::move(writer).finish();
}

}  // namespace tdref
