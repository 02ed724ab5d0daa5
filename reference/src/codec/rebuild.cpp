// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>

#include <algorithm>

#include "codec/dtype_names.h"
#include "codec/layout.h"
#include "codec/limits.h"
#include "codec/metadata.h"
#include "codec/untrusted.h"
#include "codec/value_fields.h"
#include "tree/stack.h"

namespace tdref {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(const at::Tensor& storage) : storage_(storage) {}

  TensorDict tensordict(const Value& metadata, int depth = 0) {
    check_depth(depth);
    const auto& cls = field<std::string>(metadata, "cls");
    if (cls == "LazyStackedTensorDict") {
      return lazy_stack(metadata, depth);
    }
    TORCH_CHECK_VALUE(cls == "TensorDict",
                      "metadata names the class '",
                      cls,
                      "'; known are 'TensorDict' and 'LazyStackedTensorDict'");
    const auto& cls_metadata = any_field(metadata, "cls_metadata");
    TensorDict td(int_list(any_field(cls_metadata, "batch_size"), "batch_size"),
                  device(cls_metadata.find("device")));
    td.set_names(names(any_field(cls_metadata, "names")));
    for (const auto& [key, value] : field<Value::Dict>(metadata, "non_tensors")) {
      td.set(text(key, "a key"), NonTensor{non_tensor_data(value)});
    }
    for (const auto& [key, value] : field<Value::Dict>(metadata, "leaves")) {
      td.set(text(key, "a key"), leaf(text(key, "a key"), value));
    }
    for (const auto& [key, value] : *metadata.get_if<Value::Dict>()) {
      if (const auto& name = text(key, "a key"); !is_about_the_root(name, value)) {
        td.set(name, nested(value, depth + 1));
      }
    }
    return td;
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
  // What other operations add beside the nested tensordicts; a number or a string is never one of
  // those.
  static bool is_about_the_root(const std::string& key, const Value& value) {
    return is_reserved_key(key) || (key.rfind('_', 0) == 0 && !value.is<Value::Dict>());
  }

  Entry nested(const Value& metadata, int depth) {
    if (field<std::string>(metadata, "cls") == "NonTensorStack") {
      return NonTensor{non_tensor_stack(metadata, depth), true};
    }
    return tensordict(metadata, depth);
  }

  static Value non_tensor_data(const Value& value) {
    const auto* fields = value.get_if<Value::Tuple>();
    TORCH_CHECK_VALUE(fields != nullptr && fields->items.size() == 3,
                      "metadata describes non-tensor data by (data, batch_size, device)");
    return fields->items[0];
  }

  Value non_tensor_stack(const Value& metadata, int depth) {
    check_depth(depth);
    check_stack_dim_is_first(metadata);
    const auto& non_tensors = any_field(metadata, "non_tensors");
    Value::List members;
    for (std::size_t i = 0;; ++i) {
      const auto key = std::to_string(i);
      if (const auto* member = non_tensors.find(key)) {
        members.push_back(non_tensor_data(*member));
      } else if (const auto* stack = metadata.find(key)) {
        members.push_back(non_tensor_stack(*stack, depth + 1));
      } else {
        return members;
      }
    }
  }

  static void check_stack_dim_is_first(const Value& metadata) {
    const auto stack_dim = field<std::int64_t>(any_field(metadata, "cls_metadata"), "stack_dim");
    TORCH_CHECK_VALUE(stack_dim == 0,
                      "a stack of non-tensor data along dimension ",
                      stack_dim,
                      " is not supported; allowed is 0");
  }

  // The members are copied into one tensor for each key.
  TensorDict lazy_stack(const Value& metadata, int depth) {
    const auto stack_dim = field<std::int64_t>(any_field(metadata, "cls_metadata"), "stack_dim");
    std::vector<TensorDict> members;
    while (const auto* member = metadata.find(std::to_string(members.size()))) {
      members.push_back(tensordict(*member, depth + 1));
    }
    return stack(members, stack_dim);
  }

  at::Tensor leaf(const std::string& key, const Value& value) {
    const auto* fields = value.sequence();
    TORCH_CHECK_VALUE(!is_jagged_key(key), "the jagged leaf '", key, "' is not supported");
    TORCH_CHECK_VALUE(fields != nullptr && fields->size() == 5,
                      "metadata describes leaf '",
                      key,
                      "' by (dtype, shape, start, stop, pad)");
    const auto* dtype = find_dtype(text((*fields)[0], "a dtype"));
    TORCH_CHECK_VALUE(dtype != nullptr,
                      "metadata gives leaf '",
                      key,
                      "' the unknown dtype '",
                      text((*fields)[0], "a dtype"),
                      "'");
    const auto shape = int_list((*fields)[1], "a shape");
    const auto item_bytes = static_cast<std::int64_t>(c10::elementSize(dtype->dtype));
    const auto nbytes = bytes_of(shape, item_bytes);
    Span span{integer((*fields)[2], "start"), integer((*fields)[3], "stop"), 0};
    const bool in_storage =
        0 <= span.start && span.start <= span.stop && span.stop <= storage_.numel();
    TORCH_CHECK_VALUE(in_storage && nbytes <= span.stop - span.start,
                      "metadata gives leaf '",
                      key,
                      "', which has ",
                      nbytes,
                      " bytes, the bytes ",
                      span.start,
                      " to ",
                      span.stop,
                      " of a storage of ",
                      storage_.numel());
    span.pad = span.stop - span.start - nbytes;
    TORCH_CHECK_VALUE(span.pad == integer((*fields)[4], "pad"),
                      "metadata gives leaf '",
                      key,
                      "' another padding than the ",
                      span.pad,
                      " bytes that its shape leaves");
    TORCH_CHECK_VALUE(span.start % item_bytes == 0,
                      "metadata places leaf '",
                      key,
                      "' at byte ",
                      span.start,
                      ", which is not a multiple of its element size ",
                      item_bytes);
    if (span.stop > span.start) {
      spans_.push_back(span);
    }
    return view_span(storage_, span, dtype->dtype, shape);
  }

  at::Tensor storage_;
  std::vector<Span> spans_;
};

}  // namespace

TensorDict rebuild(const Value& metadata, const at::Tensor& storage) {
  TORCH_CHECK_VALUE(
      storage.scalar_type() == at::kByte && storage.dim() == 1 && storage.is_contiguous(),
      "a consolidated storage is a contiguous uint8 tensor of one dimension");
  return read_untrusted("the metadata", [&] {
    Rebuilder rebuilder(storage);
    TensorDict td = rebuilder.tensordict(metadata);
    rebuilder.check_no_overlap();
    if (field<std::string>(metadata, "cls") == "TensorDict") {
      const auto* locked = any_field(metadata, "cls_metadata").find("is_locked");
      td.set_consolidated({storage, locked != nullptr && *locked == Value(true)});
    }
    return td;
  });
}

}  // namespace tdref
