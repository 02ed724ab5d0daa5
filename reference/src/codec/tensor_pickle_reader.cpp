// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/_conj.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/_validate_sparse_coo_tensor_args.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <c10/util/safe_numerics.h>

#include "codec/dtype_names.h"
#include "codec/legacy_save.h"
#include "codec/limits.h"
#include "codec/tensor_pickle.h"
#include "codec/value_fields.h"

namespace tdref {
namespace {

using Global = PickleObject::Global;

void set_requires_grad(const at::Tensor& tensor, bool requires_grad) {
  TORCH_CHECK_VALUE(!requires_grad || tensor.is_floating_point() || tensor.is_complex(),
                    "a tensor of dtype ",
                    tensor.dtype(),
                    " cannot require gradients");
  tensor.set_requires_grad(requires_grad);
}

// Whether all elements lie in a storage of `count` elements.
bool lies_within(c10::IntArrayRef sizes,
                 c10::IntArrayRef strides,
                 std::int64_t offset,
                 std::int64_t count) {
  std::int64_t last = offset;
  bool overflows = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return offset >= 0 && offset <= count;
    }
    std::int64_t reach = 0;
    overflows |= c10::mul_overflows(sizes[i] - 1, strides[i], &reach);
    overflows |= c10::add_overflows(last, reach, &last);
  }
  return !overflows && offset >= 0 && last < count;
}

bool is_true(const PickledObjects& objects, std::optional<ObjectId> id) {
  const auto* flag = id.has_value() ? objects.get_if<bool>(*id) : nullptr;
  return flag != nullptr && *flag;
}

}  // namespace

Leaf TensorReader::read(ObjectId id, int depth) {
  check_depth(depth);
  if (const auto found = leaves_.find(id); found != leaves_.end()) {
    return found->second;
  }
  return leaves_.emplace(id, rebuild(id, depth)).first->second;
}

Leaf TensorReader::rebuild(ObjectId id, int depth) {
  const auto* callee = objects_.callee(id);
  TORCH_CHECK_VALUE(callee != nullptr, "the pickle has an entry that is not a tensor");
  if (*callee == Global{"torch._utils", "_rebuild_tensor_v2"}) {
    return {typed(id)};
  }
  if (*callee == Global{"torch._utils", "_rebuild_tensor_v3"}) {
    return {typed_by_argument(id)};
  }
  if (*callee == Global{"torch._utils", "_rebuild_parameter"}) {
    const auto& arguments = objects_.arguments(id, 3, 3, "a Parameter");
    const auto tensor = read(arguments[0], depth + 1).tensor.detach();
    set_requires_grad(tensor, objects_.get<bool>(arguments[1], "requires_grad"));
    return {tensor, true};
  }
  if (*callee == Global{"torch._utils", "_rebuild_sparse_tensor"}) {
    return {sparse(id, depth)};
  }
  if (*callee == Global{"torch._utils", "_rebuild_meta_tensor_no_storage"}) {
    return {meta(id)};
  }
  if (*callee == Global{"torch", "Tensor.view"}) {
    return {viewed(id, depth)};
  }
  if (*callee == Global{"torch", "Tensor.requires_grad_"}) {
    const auto& arguments = objects_.arguments(id, 2, 2, "requires_grad_");
    const auto tensor = read(arguments[0], depth + 1).tensor.detach();
    set_requires_grad(tensor, objects_.get<bool>(arguments[1], "requires_grad"));
    return {tensor};
  }
  TORCH_CHECK_VALUE(false,
                    "the pickle calls ",
                    callee->module,
                    '.',
                    callee->name,
                    ", which is not allowed for a tensor");
}

// (storage, offset, size, stride, requires_grad, hooks[, metadata])
at::Tensor TensorReader::typed(ObjectId call) {
  const auto& arguments = objects_.arguments(call, 6, 7, "a tensor");
  auto tensor = strided(arguments, storage(arguments[0]).scalar_type());
  if (arguments.size() == 7 && objects_.get_if<PickleObject::Dict>(arguments[6]) != nullptr) {
    tensor = is_true(objects_, objects_.find(arguments[6], "conj")) ? at::_conj(tensor) : tensor;
    tensor = is_true(objects_, objects_.find(arguments[6], "neg")) ? at::_neg_view(tensor) : tensor;
  }
  set_requires_grad(tensor, objects_.get<bool>(arguments[4], "requires_grad"));
  return tensor;
}

// (storage, offset, size, stride, requires_grad, hooks, dtype[, metadata]); such dtypes have no
// conj or neg views
at::Tensor TensorReader::typed_by_argument(ObjectId call) {
  const auto& arguments = objects_.arguments(call, 7, 8, "a tensor");
  const auto tensor = strided(arguments, dtype(arguments[6]));
  set_requires_grad(tensor, objects_.get<bool>(arguments[4], "requires_grad"));
  return tensor;
}

at::Tensor TensorReader::strided(const std::vector<ObjectId>& arguments, at::ScalarType dtype) {
  const auto& elements = storage(arguments[0]);
  const auto offset = objects_.get<std::int64_t>(arguments[1], "a storage offset");
  const auto size = sizes(arguments[2]);
  const auto stride = sizes(arguments[3]);
  const auto count = static_cast<std::int64_t>(elements.nbytes() / c10::elementSize(dtype));
  TORCH_CHECK_VALUE(size.size() == stride.size() && lies_within(size, stride, offset, count),
                    "the pickle has a tensor of size ",
                    c10::IntArrayRef(size),
                    " and stride ",
                    c10::IntArrayRef(stride),
                    " at ",
                    offset,
                    " that does not lie within its storage of ",
                    count,
                    " elements");
  bytes_of(size, static_cast<std::int64_t>(c10::elementSize(dtype)));
  return at::empty({0}, dtype).set_(elements.storage(), offset, size, stride);
}

// (layout, (indices, values, size[, is_coalesced]))
at::Tensor TensorReader::sparse(ObjectId call, int depth) {
  const auto& arguments = objects_.arguments(call, 2, 2, "a sparse tensor");
  const auto& layout = objects_.arguments(arguments[0], 1, 1, "a layout");
  TORCH_CHECK_VALUE(objects_.text(layout[0], "a layout") == "torch.sparse_coo",
                    "the layout ",
                    objects_.text(layout[0], "a layout"),
                    " is not supported");
  const auto& parts = objects_.sequence(arguments[1], "a sparse tensor");
  TORCH_CHECK_VALUE(parts.size() == 4, "a sparse tensor is (indices, values, size, is_coalesced)");
  const auto indices = read(parts[0], depth + 1).tensor;
  const auto values = read(parts[1], depth + 1).tensor;
  const auto size = sizes(parts[2]);
  const bool is_coalesced = is_true(objects_, parts[3]);
  at::_validate_sparse_coo_tensor_args(indices, values, size, is_coalesced);
  return at::sparse_coo_tensor(
      indices, values, size, values.options().layout(at::kSparse), is_coalesced);
}

// (dtype, size, stride, requires_grad)
at::Tensor TensorReader::meta(ObjectId call) {
  const auto& arguments = objects_.arguments(call, 4, 4, "a meta tensor");
  const auto size = sizes(arguments[1]);
  const auto stride = sizes(arguments[2]);
  TORCH_CHECK_VALUE(size.size() == stride.size(), "size and stride have the same length");
  const auto type = dtype(arguments[0]);
  bytes_of(size, static_cast<std::int64_t>(c10::elementSize(type)));
  const auto tensor = at::empty_strided(size, stride, at::device(at::kMeta).dtype(type));
  set_requires_grad(tensor, objects_.get<bool>(arguments[3], "requires_grad"));
  return tensor;
}

// (tensor, dtype) or (tensor, size)
at::Tensor TensorReader::viewed(ObjectId call, int depth) {
  const auto& arguments = objects_.arguments(call, 2, 2, "a view");
  const auto tensor = read(arguments[0], depth + 1).tensor;
  return objects_.get_if<Global>(arguments[1]) != nullptr ? tensor.view(dtype(arguments[1]))
                                                          : tensor.view(sizes(arguments[1]));
}

const at::Tensor& TensorReader::storage(ObjectId id) {
  if (const auto found = storages_.find(id); found != storages_.end()) {
    return found->second;
  }
  const auto* callee = objects_.callee(id);
  TORCH_CHECK_VALUE(callee != nullptr && *callee == (Global{"torch.storage", "_load_from_bytes"}),
                    "the pickle has a storage that torch.storage._load_from_bytes does not make");
  const auto& arguments = objects_.arguments(id, 1, 1, "a storage");
  const auto& stream = objects_.get<PickleObject::Bytes>(arguments[0], "a storage");
  return storages_.emplace(id, load_storage(stream.data)).first->second;
}

at::ScalarType TensorReader::dtype(ObjectId id) const {
  const auto& global = objects_.get<Global>(id, "a dtype");
  const auto* name =
      global.module == "torch" ? find_dtype("torch." + std::string(global.name)) : nullptr;
  TORCH_CHECK_VALUE(
      name != nullptr, "the pickle names the unknown dtype ", global.module, '.', global.name);
  return name->dtype;
}

Shape TensorReader::sizes(ObjectId id) const {
  return read_sizes(objects_, id);
}

Shape read_sizes(const PickledObjects& objects, ObjectId id) {
  if (const auto* callee = objects.callee(id)) {
    TORCH_CHECK_VALUE(*callee == (Global{"torch", "Size"}), "a size is a tuple or a torch.Size");
    id = objects.arguments(id, 1, 1, "a torch.Size")[0];
  }
  Shape sizes;
  for (const auto item : objects.sequence(id, "a size")) {
    sizes.push_back(objects.get<std::int64_t>(item, "a size"));
    TORCH_CHECK_VALUE(sizes.back() >= 0, "a size or stride must not be negative");
  }
  return sizes;
}

}  // namespace tdref
