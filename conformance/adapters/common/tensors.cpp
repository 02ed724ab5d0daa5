// SPDX-License-Identifier: BSD-3-Clause
#include "common/tensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "values/dtype.h"
#include "values/fill.h"
#include "values/fill_json.h"
#include "values/hex.h"
#include "values/sha256.h"

namespace tdconf::adapter {
namespace {

constexpr std::size_t kLargestInlineBytes = 1024;

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 18> kScalarTypes{{
    {"bool", at::kBool},
    {"uint8", at::kByte},
    {"int8", at::kChar},
    {"int16", at::kShort},
    {"uint16", at::kUInt16},
    {"int32", at::kInt},
    {"uint32", at::kUInt32},
    {"int64", at::kLong},
    {"uint64", at::kUInt64},
    {"float8_e4m3fn", at::kFloat8_e4m3fn},
    {"float8_e5m2", at::kFloat8_e5m2},
    {"float16", at::kHalf},
    {"bfloat16", at::kBFloat16},
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"complex32", at::kComplexHalf},
    {"complex64", at::kComplexFloat},
    {"complex128", at::kComplexDouble},
}};

at::ScalarType scalar_type_named(std::string_view name, const std::string& where) {
  for (const auto& [known, type] : kScalarTypes) {
    if (known == name) return type;
  }
  throw BadRequest(where + ".dtype: unknown dtype " + std::string(name));
}

at::Tensor make_plain(const Fields& fields) {
  const auto shape = fields.required<std::vector<std::int64_t>>("shape");
  const auto dtype = fields.required<std::string>("dtype");
  const auto scalar_type = scalar_type_named(dtype, fields.where());
  const auto itemsize = static_cast<std::int64_t>(at::elementSize(scalar_type));
  check_tensor_size(shape, itemsize, fields.where() + ".shape");
  try {
    const Bytes bytes = fill_bytes(
        fill_from_json(fields.required<json>("fill")), dtype_named(dtype), count_elements(shape));
    const at::Tensor tensor = at::empty(shape, scalar_type);
    if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
    return tensor;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(fields.where() + ": " + error.what());
  }
}

at::Tensor transposed(const at::Tensor& plain, const std::string& where) {
  std::vector<std::int64_t> reversed(static_cast<std::size_t>(plain.dim()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const at::Tensor tensor = plain.permute(reversed).contiguous().permute(reversed);
  if (tensor.is_contiguous()) {
    throw BadRequest(where + ".form: a transposed tensor needs two dimensions longer than 1");
  }
  return tensor;
}

/// Stores every element, zeros too, so that the structure does not depend on the values.
at::Tensor sparse_coo(const at::Tensor& plain) {
  const at::Tensor indices = at::ones(plain.sizes(), at::kBool).nonzero().t();
  return at::sparse_coo_tensor(indices, plain.reshape({-1}), plain.sizes());
}

/// Being a Parameter is a property of the entry, not of the C++ tensor; see tdref::Leaf.
at::Tensor parameter(const at::Tensor& plain) {
  return plain.requires_grad_(plain.is_floating_point() || plain.is_complex());
}

at::Tensor expanded(const at::Tensor& plain, const std::string& where) {
  if (plain.dim() == 0 || plain.size(0) < 2) {
    throw BadRequest(where + ".form: an expanded tensor needs two rows or more");
  }
  const at::Tensor row = plain.narrow(0, 0, 1).clone();
  const at::Tensor tensor = row.expand(plain.sizes());
  if (std::memcmp(tensor.contiguous().const_data_ptr(), plain.const_data_ptr(), plain.nbytes()) !=
      0) {
    throw BadRequest(where + ".form: all rows of an expanded tensor must be filled alike");
  }
  return tensor;
}

std::string memory_token(const at::Tensor& tensor) {
  const at::Tensor strided = tensor.is_sparse() ? tensor._values() : tensor;
  std::ostringstream token;
  if (strided.is_meta()) {
    token << "meta:" << strided.storage().unsafeGetStorageImpl();
  } else {
    token << strided.storage().data() << '+' << strided.storage_offset() * strided.itemsize();
  }
  return token.str();
}

std::string layout_of(const at::Tensor& tensor) {
  if (tensor.layout() == at::kStrided) return "strided";
  if (tensor.layout() == at::kSparse) return "sparse_coo";
  std::ostringstream name;
  name << tensor.layout();
  return name.str();
}

bool is_readable(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_cpu();
}

at::Tensor in_row_major_order(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg().contiguous();
}

std::span<const std::uint8_t> bytes_of(const at::Tensor& contiguous) {
  return {static_cast<const std::uint8_t*>(contiguous.const_data_ptr()), contiguous.nbytes()};
}

void add_bytes(const at::Tensor& tensor, json& description) {
  const at::Tensor elements = in_row_major_order(tensor);
  const auto bytes = bytes_of(elements);
  if (bytes.size() <= kLargestInlineBytes) {
    description["bytes"] = encode_hex(bytes);
  } else {
    description["sha256"] = sha256_hex(bytes);
  }
}

/// Copies the elements of a sparse tensor among its zeros, as bytes: to_dense() adds each to a zero,
/// which makes 0 of -0, and knows fewer dtypes.
at::Tensor dense(const at::Tensor& sparse) {
  at::Tensor places = at::zeros({sparse._nnz()}, at::kLong);
  std::int64_t rows = 1;
  for (std::int64_t dimension = 0; dimension < sparse.sparse_dim(); ++dimension) {
    rows *= sparse.size(dimension);
    places = places * sparse.size(dimension) + sparse._indices()[dimension];
  }
  if (std::get<0>(at::_unique(places)).numel() < places.numel()) return dense(sparse.coalesce());
  const at::Tensor filled = at::zeros(sparse.sizes(), sparse.scalar_type());
  if (filled.numel() == 0) return filled;
  const std::int64_t width = filled.numel() / rows;
  const at::Tensor values = sparse._values().reshape({sparse._nnz(), width});
  filled.view({rows, width}).view(at::kByte).index_copy_(0, places, values.view(at::kByte));
  return filled;
}

}  // namespace

void check_tensor_size(const std::vector<std::int64_t>& shape,
                       std::int64_t itemsize,
                       const std::string& where) {
  std::int64_t room = kMaxTensorBytes / itemsize;
  for (const std::int64_t size : shape) {
    if (size < 0) throw BadRequest(where + ": negative size in " + json(shape).dump());
    room /= std::max<std::int64_t>(size, 1);
  }
  if (room < 1) {
    throw BadRequest(where + ": " + json(shape).dump() + " with " + std::to_string(itemsize) +
                     " bytes an element exceeds " + std::to_string(kMaxTensorBytes) + " bytes");
  }
}

at::Tensor make_tensor(const json& tree, const std::string& where) {
  const Fields fields(tree, where, {"kind", "dtype", "shape", "fill", "form"});
  if (fields.required<std::string>("kind") != "tensor") {
    throw BadRequest(where + ".kind: expected tensor");
  }
  const at::Tensor plain = make_plain(fields);
  const auto form = fields.optional<std::string>("form").value_or("plain");
  if (form == "plain") return plain;
  if (form == "requires_grad") return plain.requires_grad_();
  if (form == "parameter") return parameter(plain);
  if (form == "transposed") return transposed(plain, where);
  if (form == "expanded") return expanded(plain, where);
  if (form == "sparse_coo") return sparse_coo(plain);
  if (form == "meta") return plain.to(at::kMeta);
  throw Unsupported("leaf:" + form);
}

std::string dtype_name(at::ScalarType scalar_type) {
  for (const auto& [name, type] : kScalarTypes) {
    if (type == scalar_type) return std::string(name);
  }
  return c10::toString(scalar_type);
}

std::optional<std::string> digest_of(const at::Tensor& tensor) {
  if (!is_readable(tensor)) return std::nullopt;
  const at::Tensor elements = in_row_major_order(tensor);
  return sha256_hex(bytes_of(elements));
}

json snapshot_tensor(const at::Tensor& tensor) {
  json leaf{{"kind", "tensor"},
            {"dtype", dtype_name(tensor.scalar_type())},
            {"shape", tensor.sizes().vec()},
            {"requires_grad", tensor.requires_grad()},
            {"class", "Tensor"},
            {"device", tensor.device().str()},
            {"layout", layout_of(tensor)},
            {"token", memory_token(tensor)}};
  if (is_readable(tensor)) add_bytes(tensor, leaf);
  if (tensor.is_sparse() && tensor.is_cpu()) add_bytes(dense(tensor.detach()), leaf);
  return leaf;
}

json snapshot_storage(const at::Tensor& storage) {
  json description{{"token", memory_token(storage)}, {"nbytes", storage.nbytes()}};
  add_bytes(storage, description);
  return description;
}

}  // namespace tdconf::adapter
