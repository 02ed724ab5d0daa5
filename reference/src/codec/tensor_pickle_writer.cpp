// SPDX-License-Identifier: BSD-3-Clause
#include "codec/dtype_names.h"
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

// `tensor` has a dtype with a storage class.
void write_typed(PickleWriter& writer, const at::Tensor& tensor) {
  const auto elements = tensor.resolve_conj().resolve_neg().contiguous();
  writer.global("torch._utils", "_rebuild_tensor_v2");
  writer.begin_tuple();
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
  writer.end_tuple();
  writer.reduce();
}

// torch's own form for these dtypes, _rebuild_tensor_v3, cannot be loaded by torch 2.15; a view of
// bytes can.
void write_as_view_of_bytes(PickleWriter& writer, const at::Tensor& tensor) {
  const auto bytes = tensor.resolve_conj().contiguous().view({-1}).view(at::kByte);
  writer.global("torch", "Tensor.view");
  writer.begin_tuple();
  writer.global("torch", "Tensor.view");
  writer.begin_tuple();
  write_typed(writer, bytes);
  write_dtype(writer, tensor.scalar_type());
  writer.end_tuple();
  writer.reduce();
  write_sizes(writer, tensor.sizes());
  writer.end_tuple();
  writer.reduce();
}

void write_sparse(PickleWriter& writer, const at::Tensor& tensor) {
  writer.global("torch._utils", "_rebuild_sparse_tensor");
  writer.begin_tuple();
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
  writer.end_tuple();
  writer.reduce();
}

void write_meta(PickleWriter& writer, const at::Tensor& tensor) {
  writer.global("torch._utils", "_rebuild_meta_tensor_no_storage");
  writer.begin_tuple();
  write_dtype(writer, tensor.scalar_type());
  write_sizes(writer, tensor.sizes());
  write_tuple(writer, tensor.strides());
  writer.boolean(false);
  writer.end_tuple();
  writer.reduce();
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
  if (tensor.layout() == at::kSparse) {
    write_sparse(writer, tensor.detach());
  } else if (tensor.is_meta()) {
    write_meta(writer, tensor);
  } else if (dtype_name(tensor.scalar_type()).storage_class.empty()) {
    write_as_view_of_bytes(writer, tensor.detach());
  } else {
    write_typed(writer, tensor.detach());
  }
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
  if (leaf.is_parameter) {
    writer.global("torch._utils", "_rebuild_parameter");
    writer.begin_tuple();
    write_tensor(writer, tensor);
    writer.boolean(tensor.requires_grad());
    write_empty_ordered_dict(writer);
    writer.end_tuple();
    writer.reduce();
  } else if (tensor.requires_grad()) {
    writer.global("torch", "Tensor.requires_grad_");
    writer.begin_tuple();
    write_tensor(writer, tensor);
    writer.boolean(true);
    writer.end_tuple();
    writer.reduce();
  } else {
    write_tensor(writer, tensor);
  }
}

}  // namespace tdref
