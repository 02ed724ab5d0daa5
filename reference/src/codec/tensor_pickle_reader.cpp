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
#include "tree/jagged.h"

namespace tdref {
namespace {

using Global = PickleObject::Global;

constexpr Global kRebuildFromType{"torch._tensor", "_rebuild_from_type_v2"};
constexpr Global kRebuildJagged{"torch.nested._internal.nested_tensor", "_rebuild_njt"};

// Each leaf copies the name of its class.
constexpr std::size_t kMaxClassName = 255;

bool is_class_of_torch(const Global& cls) {
  return cls == Global{"torch", "Tensor"} || cls == Global{"torch._tensor", "Tensor"};
}

void check_count(const std::vector<ObjectId>& arguments,
                 std::size_t least,
                 std::size_t most,
                 const char* what) {
  TORCH_CHECK_VALUE(least <= arguments.size() && arguments.size() <= most,
                    "the pickle has ",
                    arguments.size(),
                    " arguments for ",
                    what);
}

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
  const auto* object = objects_.get_if<PickleObject::Call>(id);
  const auto* callee = objects_.callee(id);
  TORCH_CHECK_VALUE(callee != nullptr, "the pickle has an entry that is not a tensor");
  if (*callee == kRebuildFromType) {
    return from_type(objects_.arguments(id, 4, 4, "a tensor of a class"), depth);
  }
  return call(*callee, object->arguments, depth);
}

// (function, class, arguments of the function, attributes), where the attributes are Python's own
Leaf TensorReader::from_type(const Arguments& arguments, int depth) {
  const auto& cls = objects_.get<Global>(arguments[1], "the class of a tensor");
  TORCH_CHECK_VALUE(cls.module.size() + cls.name.size() <= kMaxClassName,
                    "the name of the class of a tensor has more than ",
                    kMaxClassName,
                    " characters");
  auto leaf = call(objects_.get<Global>(arguments[0], "a function"), arguments[2], depth);
  if (!is_class_of_torch(cls)) {
    leaf.cls = {std::string(cls.module), std::string(cls.name)};
  }
  return leaf;
}

Leaf TensorReader::call(const Global& function, ObjectId arguments_id, int depth) {
  const auto& arguments =
      objects_.get<PickleObject::Tuple>(arguments_id, "the arguments of a tensor").items;
  if (function == Global{"torch._utils", "_rebuild_tensor_v2"}) {
    return {typed(arguments)};
  }
  if (function == Global{"torch._utils", "_rebuild_tensor_v3"}) {
    return {typed_by_argument(arguments)};
  }
  if (function == Global{"torch._utils", "_rebuild_parameter"}) {
    return parameter(arguments, depth);
  }
  if (function == Global{"torch._utils", "_rebuild_sparse_tensor"}) {
    return {sparse(arguments, depth)};
  }
  if (function == Global{"torch._utils", "_rebuild_meta_tensor_no_storage"}) {
    return {meta(arguments)};
  }
  if (function == Global{"torch", "Tensor.view"}) {
    return {viewed(arguments, depth)};
  }
  if (function == Global{"torch", "Tensor.requires_grad_"}) {
    return requiring_gradients(arguments, depth);
  }
  TORCH_CHECK_VALUE(false,
                    "the pickle calls ",
                    function.module,
                    '.',
                    function.name,
                    ", which is not allowed for a tensor");
}

// (tensor, requires_grad, hooks)
Leaf TensorReader::parameter(const Arguments& arguments, int depth) {
  check_count(arguments, 3, 3, "a Parameter");
  const auto tensor = read(arguments[0], depth + 1).tensor.detach();
  set_requires_grad(tensor, objects_.get<bool>(arguments[1], "requires_grad"));
  return {tensor, kParameter};
}

// (tensor, requires_grad)
Leaf TensorReader::requiring_gradients(const Arguments& arguments, int depth) {
  check_count(arguments, 2, 2, "requires_grad_");
  const auto leaf = read(arguments[0], depth + 1);
  const auto tensor = leaf.tensor.detach();
  set_requires_grad(tensor, objects_.get<bool>(arguments[1], "requires_grad"));
  return {tensor, leaf.cls};
}

// (storage, offset, size, stride, requires_grad, hooks[, metadata])
at::Tensor TensorReader::typed(const Arguments& arguments) {
  check_count(arguments, 6, 7, "a tensor");
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
at::Tensor TensorReader::typed_by_argument(const Arguments& arguments) {
  check_count(arguments, 7, 8, "a tensor");
  const auto tensor = strided(arguments, dtype(arguments[6]));
  set_requires_grad(tensor, objects_.get<bool>(arguments[4], "requires_grad"));
  return tensor;
}

at::Tensor TensorReader::strided(const Arguments& arguments, at::ScalarType dtype) {
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
at::Tensor TensorReader::sparse(const Arguments& arguments, int depth) {
  check_count(arguments, 2, 2, "a sparse tensor");
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
at::Tensor TensorReader::meta(const Arguments& arguments) {
  check_count(arguments, 4, 4, "a meta tensor");
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
at::Tensor TensorReader::viewed(const Arguments& arguments, int depth) {
  check_count(arguments, 2, 2, "a view");
  const auto tensor = read(arguments[0], depth + 1).tensor;
  return objects_.get_if<Global>(arguments[1]) != nullptr ? tensor.view(dtype(arguments[1]))
                                                          : tensor.view(sizes(arguments[1]));
}

bool TensorReader::is_jagged(ObjectId id) const {
  const auto* callee = objects_.callee(id);
  if (callee == nullptr || *callee != kRebuildFromType) {
    return false;
  }
  const auto& arguments = objects_.arguments(id, 4, 4, "a tensor of a class");
  const auto* function = objects_.get_if<Global>(arguments[0]);
  return function != nullptr && *function == kRebuildJagged;
}

// (_rebuild_njt, NestedTensor, ({values, offsets, lengths, _ragged_idx, ...},), attributes)
Jagged TensorReader::read_jagged(ObjectId id) {
  const auto& arguments = objects_.arguments(id, 4, 4, "a jagged tensor");
  const auto& state = objects_.get<PickleObject::Tuple>(arguments[2], "a jagged tensor").items;
  check_count(state, 1, 1, "a jagged tensor");
  Jagged jagged{.values = read(objects_.field(state[0], "values")).tensor,
                .offsets = read(objects_.field(state[0], "offsets")).tensor};
  const auto lengths = objects_.field(state[0], "lengths");
  if (objects_.get_if<std::monostate>(lengths) == nullptr) {
    jagged.lengths = read(lengths).tensor;
  }
  jagged.ragged_idx =
      objects_.get<std::int64_t>(objects_.field(state[0], "_ragged_idx"), "_ragged_idx");
  check_rows(jagged);
  return jagged;
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
