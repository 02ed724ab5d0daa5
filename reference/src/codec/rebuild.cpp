// SPDX-License-Identifier: BSD-3-Clause
#include "codec/rebuild.h"

#include <tdref/consolidate.h>

#include <algorithm>
#include <utility>

#include "codec/class_text.h"
#include "codec/layout.h"
#include "codec/leaf_metadata.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/untrusted.h"
#include "codec/value_fields.h"
#include "tree/jagged.h"
#include "tree/non_tensor.h"
#include "tree/walk.h"

namespace tdref {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(const at::Tensor& storage) : storage_(storage) {}

  AnyTensorDict tensordict(const Value& metadata, int depth = 0) {
    check_depth(depth);
    const auto& value = any_field(metadata, "cls");
    if (const auto* tensorclass = value.get_if<PythonClass>()) {
      return TensorClass(*tensorclass, plain(metadata, depth));
    }
    const auto& cls = text(value, "a class");
    if (const auto tensorclass = class_of_text(cls)) {  // as files have it
      return TensorClass(*tensorclass, plain(metadata, depth));
    }
    if (cls == "LazyStackedTensorDict") {
      return lazy_stack(metadata, depth);
    }
    TORCH_CHECK_VALUE(cls == "TensorDict",
                      "metadata names the class '",
                      cls,
                      "'; known are 'TensorDict', 'LazyStackedTensorDict' and tensorclasses");
    return plain(metadata, depth);
  }

  void check_no_overlap() {
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return a.start < b.start;
    });
    const auto overlap =
        std::adjacent_find(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
          return a.stop > b.start;
        });
    TORCH_CHECK_VALUE(overlap == spans_.end(),
                      "metadata places two leaves on the same bytes of the storage, near byte ",
                      overlap == spans_.end() ? 0 : overlap->stop);
  }

 private:
  TensorDict plain(const Value& metadata, int depth) {
    const auto& cls_metadata = any_field(metadata, "cls_metadata");
    TensorDict td(int_list(any_field(cls_metadata, "batch_size"), "batch_size"),
                  device(cls_metadata.find("device")));
    td.set_names(names(any_field(cls_metadata, "names")));
    for (const auto& [key, value] : field<Value::Dict>(metadata, "non_tensors")) {
      td.set(text(key, "a key"), NonTensor{non_tensor_data(value)});
    }
    set_leaves(field<Value::Dict>(metadata, "leaves"), td);
    for (const auto& [key, value] : *metadata.get_if<Value::Dict>()) {
      if (const auto& name = text(key, "a key"); !is_about_the_level(name, value)) {
        td.set(name, nested(value, depth + 1));
      }
    }
    return td;
  }

  // The parts of a jagged leaf stand one after the other, the offsets last.
  void set_leaves(const Value::Dict& leaves, TensorDict& td) {
    Jagged jagged;
    for (const auto& [key, value] : leaves) {
      const auto& name = text(key, "a key");
      if (is_jagged_key(name)) {
        if (const auto whole = add_part(name, value, jagged)) {
          td.set(*whole, std::exchange(jagged, {}));
        }
      } else {
        td.set(name, leaf(name, value));
      }
    }
    TORCH_CHECK_VALUE(!jagged.values.defined(), "metadata has a jagged leaf without offsets");
  }

  // Returns the key of the jagged leaf if this was its last part.
  std::optional<std::string> add_part(const std::string& key, const Value& value, Jagged& jagged) {
    const auto name = key.substr(key.find('>') + 1);
    if (key == values_key(name)) {
      jagged.values = leaf(key, value);
      return std::nullopt;
    }
    TORCH_CHECK_VALUE(
        jagged.values.defined(), "metadata has '", key, "' without the values of a jagged leaf");
    if (key == lengths_key(name)) {
      jagged.lengths = leaf(key, value);
      return std::nullopt;
    }
    TORCH_CHECK_VALUE(
        key == offsets_key(name), "metadata has '", key, "', which is no part of a jagged leaf");
    jagged.offsets = leaf(key, value);
    jagged.ragged_idx = integer(value.sequence()->back(), "ragged_idx");
    return name;
  }

  Entry nested(const Value& metadata, int depth) {
    if (any_field(metadata, "cls") == Value("NonTensorStack")) {
      return non_tensor_stack(metadata, depth);
    }
    return tensordict(metadata, depth);
  }

  static Value non_tensor_data(const Value& value) {
    const auto* fields = value.sequence();
    TORCH_CHECK_VALUE(fields != nullptr && fields->size() == 3,
                      "metadata describes non-tensor data by (data, batch_size, device)");
    return (*fields)[0];
  }

  NonTensor non_tensor_stack(const Value& metadata, int depth) {
    check_depth(depth);
    check_stack_dim_is_first(metadata);
    const auto& data = field<Value::Dict>(metadata, "non_tensors");
    const auto stacks = nested_of(metadata);
    auto datum = data.begin();
    auto stack = stacks.begin();
    std::vector<NonTensor> members;
    while (datum != data.end() || stack != stacks.end()) {
      const Value key(member_key(members.size()));
      if (datum != data.end() && datum->first == key) {
        members.push_back({non_tensor_data((datum++)->second)});
      } else {
        TORCH_CHECK_VALUE(stack != stacks.end() && (*stack)->first == key,
                          "metadata lacks member ",
                          members.size(),
                          " of a stack of non-tensor data, or has it behind a later one");
        members.push_back(non_tensor_stack((*stack++)->second, depth + 1));
      }
    }
    return stack_data(members);
  }

  static std::vector<const Value::Dict::value_type*> nested_of(const Value& metadata) {
    std::vector<const Value::Dict::value_type*> nested;
    for (const auto& item : *metadata.get_if<Value::Dict>()) {
      if (!is_about_the_level(text(item.first, "a key"), item.second)) {
        nested.push_back(&item);
      }
    }
    return nested;
  }

  static void check_stack_dim_is_first(const Value& metadata) {
    const auto stack_dim = field<std::int64_t>(any_field(metadata, "cls_metadata"), "stack_dim");
    TORCH_CHECK_VALUE(stack_dim == 0,
                      "a stack of non-tensor data along dimension ",
                      stack_dim,
                      " is not supported; allowed is 0");
  }

  AnyTensorDict lazy_stack(const Value& metadata, int depth) {
    const auto& cls_metadata = any_field(metadata, "cls_metadata");
    const auto* name = cls_metadata.find("stack_dim_name");
    std::vector<AnyTensorDict> members;
    for (const auto& [key, value] : *metadata.get_if<Value::Dict>()) {
      const auto& number = text(key, "a key");
      if (!is_about_the_level(number, value)) {
        TORCH_CHECK_VALUE(number == member_key(members.size()),
                          "metadata has '",
                          number,
                          "' where member ",
                          members.size(),
                          " of a lazy stack is allowed");
        members.push_back(tensordict(value, depth + 1));
      }
    }
    return LazyStackedTensorDict(
        std::move(members),
        field<std::int64_t>(cls_metadata, "stack_dim"),
        name == nullptr || name->is_none() ? std::nullopt : std::optional(text(*name, "a name")));
  }

  at::Tensor leaf(const std::string& key, const Value& value) {
    const auto [dtype, shape, span] = read_leaf(key, value);
    TORCH_CHECK_VALUE(span.stop <= storage_.numel(),
                      "metadata gives leaf '",
                      key,
                      "' the bytes ",
                      span.start,
                      " to ",
                      span.stop,
                      " of a storage of ",
                      storage_.numel());
    if (span.stop > span.start) {
      spans_.push_back(span);
    }
    return view_span(storage_, span, dtype, shape);
  }

  at::Tensor storage_;
  std::vector<Span> spans_;
};

}  // namespace

AnyTensorDict rebuild_unread(const Value& metadata, const at::Tensor& storage) {
  TORCH_CHECK_VALUE(
      storage.scalar_type() == at::kByte && storage.dim() == 1 && storage.is_contiguous(),
      "a consolidated storage is a contiguous uint8 tensor of one dimension");
  return read_untrusted("the metadata", [&] {
    Rebuilder rebuilder(storage);
    auto td = rebuilder.tensordict(metadata);
    rebuilder.check_no_overlap();
    const auto* locked = any_field(metadata, "cls_metadata").find("is_locked");
    td->set_consolidated({storage, locked != nullptr && *locked == Value(true)});
    return td;
  });
}

AnyTensorDict rebuild(const Value& metadata, const at::Tensor& storage) {
  auto td = rebuild_unread(metadata, storage);
  check_rows(*td);
  return td;
}

}  // namespace tdref
