// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include "codec/dtype_names.h"
#include "codec/elements.h"
#include "codec/legacy_save.h"
#include "codec/tensor_pickle.h"

namespace tdref {
namespace {

void write_tuple(PickleWriter& writer, c10::IntArrayRef numbers) {
  writer.begin_tuple();
  for (const auto number : numbers) {
    writer.integer(number);
  }
  writer.end_tuple();
}

void write_empty_ordered_dict(PickleWriter& writer) {
  writer.global("collections", "OrderedDict");
  writer.begin_tuple();
  writer.end_tuple();
  writer.reduce();
}

void write_dtype(PickleWriter& writer, at::ScalarType dtype) {
  constexpr std::string_view kModule = "torch.";
  writer.global("torch", dtype_name(dtype).name.substr(kModule.size()));
}

// Writes the call of a rebuild function; for a class that only Python has, its result is turned
// into one of that class.
void write_rebuild(PickleWriter& writer,
                   std::string_view module,
                   std::string_view function,
                   const PythonClass& cls,
                   const std::function<void()>& write_arguments) {
  const bool is_of_a_class = cls != kTensor;
  if (is_of_a_class) {
    writer.global("torch._tensor", "_rebuild_from_type_v2");
    writer.begin_tuple();
  }
  writer.global(module, function);
  if (is_of_a_class) {
    writer.global(cls.module, cls.name);
  }
  writer.begin_tuple();
  write_arguments();
  writer.end_tuple();
  if (is_of_a_class) {
    writer.none();  // no attributes
    writer.end_tuple();
  }
  writer.reduce();
}

// `tensor` has a dtype with a storage class.
void write_typed(PickleWriter& writer, const at::Tensor& tensor, const PythonClass& cls) {
  const auto elements = row_major(tensor);
  write_rebuild(writer, "torch._utils", "_rebuild_tensor_v2", cls, [&] {
    writer.global("torch.storage", "_load_from_bytes");
    writer.begin_tuple();
    writer.bytes(save_storage(elements.view({-1})));
    writer.end_tuple();
    writer.reduce();
    writer.integer(0);
    write_tuple(writer, elements.sizes());
    write_tuple(writer, elements.strides());
    writer.boolean(false);
    write_empty_ordered_dict(writer);
  });
}

// torch's own form for these dtypes, _rebuild_tensor_v3, cannot be loaded by torch 2.15; a view of
// bytes can.
void write_as_view_of_bytes(PickleWriter& writer,
                            const at::Tensor& tensor,
                            const PythonClass& cls) {
  const auto bytes = row_major(tensor).view({-1}).view(at::kByte);
  write_rebuild(writer, "torch", "Tensor.view", cls, [&] {
    write_rebuild(writer, "torch", "Tensor.view", kTensor, [&] {
      write_typed(writer, bytes, kTensor);
      write_dtype(writer, tensor.scalar_type());
    });
    write_sizes(writer, tensor.sizes());
  });
}

void write_sparse(PickleWriter& writer, const at::Tensor& tensor, const PythonClass& cls) {
  write_rebuild(writer, "torch._utils", "_rebuild_sparse_tensor", cls, [&] {
    writer.global("torch.serialization", "_get_layout");
    writer.begin_tuple();
    writer.text("torch.sparse_coo");
    writer.end_tuple();
    writer.reduce();
    writer.begin_tuple();
    write_tensor(writer, tensor._indices());
    write_tensor(writer, tensor._values());
    write_sizes(writer, tensor.sizes());
    writer.boolean(tensor.is_coalesced());
    writer.end_tuple();
  });
}

void write_meta(PickleWriter& writer, const at::Tensor& tensor, const PythonClass& cls) {
  write_rebuild(writer, "torch._utils", "_rebuild_meta_tensor_no_storage", cls, [&] {
    write_dtype(writer, tensor.scalar_type());
    write_sizes(writer, tensor.sizes());
    write_tuple(writer, tensor.strides());
    writer.boolean(false);
  });
}

void write_of_class(PickleWriter& writer, const at::Tensor& tensor, const PythonClass& cls) {
  if (tensor.layout() == at::kSparse) {
    write_sparse(writer, tensor.detach(), cls);
  } else if (tensor.is_meta()) {
    write_meta(writer, tensor, cls);
  } else if (dtype_name(tensor.scalar_type()).storage_class.empty()) {
    write_as_view_of_bytes(writer, tensor, cls);
  } else {
    write_typed(writer, tensor, cls);
  }
}

}  // namespace

void write_sizes(PickleWriter& writer, c10::IntArrayRef sizes) {
  writer.global("torch", "Size");
  writer.begin_tuple();
  write_tuple(writer, sizes);
  writer.end_tuple();
  writer.reduce();
}

void write_tensor(PickleWriter& writer, const at::Tensor& tensor) {
  write_of_class(writer, tensor, kTensor);
}

void write_leaf(PickleWriter& writer, const KeyPath& key, const Leaf& leaf) {
  const auto& tensor = leaf.tensor;
  const bool strided = tensor.layout() == at::kStrided && !tensor.is_nested() &&
                       !tensor.is_quantized() && (tensor.is_cpu() || tensor.is_meta());
  const bool sparse = tensor.layout() == at::kSparse && tensor.is_cpu();
  TORCH_CHECK_NOT_IMPLEMENTED(strided || sparse,
                              "leaf ",
                              to_string(key),
                              " cannot be pickled: it has layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device(),
                              " and dtype ",
                              tensor.dtype());
  const auto& cls = leaf.cls == kMemoryMappedTensor ? kTensor : leaf.cls;
  if (cls == kParameter) {
    write_rebuild(writer, "torch._utils", "_rebuild_parameter", kTensor, [&] {
      write_tensor(writer, tensor);
      writer.boolean(tensor.requires_grad());
      write_empty_ordered_dict(writer);
    });
  } else if (tensor.requires_grad()) {
    write_rebuild(writer, "torch", "Tensor.requires_grad_", kTensor, [&] {
      write_of_class(writer, tensor, cls);
      writer.boolean(true);
    });
  } else {
    write_of_class(writer, tensor, cls);
  }
}

void write_jagged(PickleWriter& writer, const Jagged& jagged) {
  constexpr const char* kModule = "torch.nested._internal.nested_tensor";
  write_rebuild(writer, kModule, "_rebuild_njt", {kModule, "NestedTensor"}, [&] {
    writer.begin_dict();
    writer.text("values");
    write_tensor(writer, jagged.values);
    writer.text("offsets");
    write_tensor(writer, jagged.offsets);
    writer.text("lengths");
    jagged.lengths.defined() ? write_tensor(writer, jagged.lengths) : writer.none();
    writer.text("_ragged_idx");
    writer.integer(jagged.ragged_idx);
    writer.text("_metadata_cache");
    writer.begin_dict();
    writer.end_dict();
    writer.text("requires_grad");
    writer.boolean(jagged.values.requires_grad());
    writer.end_dict();
  });
}

}  // namespace tdref
