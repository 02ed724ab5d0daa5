// SPDX-License-Identifier: BSD-3-Clause
#include "codec/dtype_names.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>

namespace tdref {
namespace {

using at::ScalarType;

constexpr DtypeName kDtypeNames[] = {
    {ScalarType::Bool, "torch.bool", true, "BoolStorage"},
    {ScalarType::Byte, "torch.uint8", true, "ByteStorage"},
    {ScalarType::Char, "torch.int8", true, "CharStorage"},
    {ScalarType::Short, "torch.int16", true, "ShortStorage"},
    {ScalarType::Int, "torch.int32", true, "IntStorage"},
    {ScalarType::Long, "torch.int64", true, "LongStorage"},
    {ScalarType::Half, "torch.float16", true, "HalfStorage"},
    {ScalarType::BFloat16, "torch.bfloat16", true, "BFloat16Storage"},
    {ScalarType::Float, "torch.float32", true, "FloatStorage"},
    {ScalarType::Double, "torch.float64", true, "DoubleStorage"},
    {ScalarType::ComplexFloat, "torch.complex64", true, "ComplexFloatStorage"},
    {ScalarType::ComplexDouble, "torch.complex128", true, "ComplexDoubleStorage"},
    {ScalarType::ComplexHalf, "torch.complex32", true, ""},
    {ScalarType::UInt16, "torch.uint16", true, ""},
    {ScalarType::UInt32, "torch.uint32", true, ""},
    {ScalarType::UInt64, "torch.uint64", true, ""},
    {ScalarType::Float8_e4m3fn, "torch.float8_e4m3fn", false, ""},
    {ScalarType::Float8_e4m3fnuz, "torch.float8_e4m3fnuz", false, ""},
    {ScalarType::Float8_e5m2, "torch.float8_e5m2", false, ""},
    {ScalarType::Float8_e5m2fnuz, "torch.float8_e5m2fnuz", false, ""},
    {ScalarType::Float8_e8m0fnu, "torch.float8_e8m0fnu", false, ""},
};

template <typename Match>
const DtypeName* find(Match match) {
  const auto* found = std::find_if(std::begin(kDtypeNames), std::end(kDtypeNames), match);
  return found == std::end(kDtypeNames) ? nullptr : found;
}

}  // namespace

const DtypeName& dtype_name(at::ScalarType dtype) {
  const auto* found = find([&](const DtypeName& entry) { return entry.dtype == dtype; });
  TORCH_CHECK_NOT_IMPLEMENTED(
      found != nullptr, "the dtype ", c10::toString(dtype), " has no serialized form");
  return *found;
}

const DtypeName* find_dtype(std::string_view name) {
  return find([&](const DtypeName& entry) { return entry.name == name; });
}

const DtypeName* find_storage_class(std::string_view storage_class) {
  return find([&](const DtypeName& entry) {
    return !storage_class.empty() && entry.storage_class == storage_class;
  });
}

}  // namespace tdref
