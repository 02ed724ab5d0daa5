// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5_types.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tree/visit.h"

namespace tdref {
namespace {

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

// HDF5 has no booleans; as h5py does, they are an enumeration of two bytes' values.
hid_t make_bool_type() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

hid_t make_half_type() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

hid_t make_complex_type(hid_t part) {
  const auto size = H5Tget_size(part);
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
  H5Tinsert(type, "r", 0, part);
  H5Tinsert(type, "i", size, part);
  return type;
}

hid_t make_text_type() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

struct NumberType {
  at::ScalarType dtype;
  hid_t type;
};

const std::vector<NumberType>& number_types() {
  static const std::vector<NumberType> kTypes{
      {at::kByte, H5T_NATIVE_UINT8},
      {at::kChar, H5T_NATIVE_INT8},
      {at::kShort, H5T_NATIVE_INT16},
      {at::kInt, H5T_NATIVE_INT32},
      {at::kLong, H5T_NATIVE_INT64},
      {at::kUInt16, H5T_NATIVE_UINT16},
      {at::kUInt32, H5T_NATIVE_UINT32},
      {at::kUInt64, H5T_NATIVE_UINT64},
      {at::kHalf, make_half_type()},
      {at::kFloat, H5T_NATIVE_FLOAT},
      {at::kDouble, H5T_NATIVE_DOUBLE},
      {at::kComplexFloat, make_complex_type(H5T_NATIVE_FLOAT)},
      {at::kComplexDouble, make_complex_type(H5T_NATIVE_DOUBLE)},
      {at::kBool, hdf5_bool_type()}};
  return kTypes;
}

// The machine computes with larger numbers, of which this would become one.
bool is_half(hid_t stored) {
  if (H5Tget_class(stored) != H5T_FLOAT || H5Tget_size(stored) != 2) {
    return false;
  }
  const Hdf5Handle half(make_half_type(), H5Tclose, "a type");
  H5Tset_order(half, H5Tget_order(stored));
  return H5Tequal(stored, half) > 0;
}

template <typename Number>
std::string bytes_of_number(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

template <typename Number>
std::optional<Value> number_of_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) {
    return std::nullopt;
  }
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof(number));
  return Value(number);
}

}  // namespace

Hdf5Handle::Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what)
    : id_(id), close_(close) {
  TORCH_CHECK_VALUE(id >= 0, "HDF5 cannot open or make ", what);
}

Hdf5Session::Hdf5Session() : lock_(one_at_a_time()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() {
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

std::optional<hid_t> hdf5_type(at::ScalarType dtype) {
  for (const auto& [known, type] : number_types()) {
    if (known == dtype) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<at::ScalarType> dtype_of_hdf5(hid_t stored) {
  if (is_half(stored)) {
    return at::kHalf;
  }
  const Hdf5Handle native(
      H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, "the type of a dataset");
  for (const auto& [dtype, type] : number_types()) {
    if (H5Tequal(native, type) > 0) {
      return dtype;
    }
  }
  return std::nullopt;
}

hid_t hdf5_text_type() {
  static const hid_t kType = make_text_type();
  return kType;
}

hid_t hdf5_bool_type() {
  static const hid_t kType = make_bool_type();
  return kType;
}

std::optional<OpaqueForm> to_opaque(const Value& data) {
  if (const auto* bytes = data.get_if<Value::Bytes>()) {
    // NumPy has no bytes of length 0, and leaves zeros at the end out.
    const auto stored = bytes->data.empty() ? std::string(1, '\0') : bytes->data;
    return OpaqueForm{"NUMPY:|S" + std::to_string(stored.size()), stored};
  }
  if (const auto* flag = data.get_if<bool>()) {
    return OpaqueForm{"NUMPY:|b1", bytes_of_number(*flag)};
  }
  if (const auto* number = data.get_if<std::int64_t>()) {
    return OpaqueForm{"NUMPY:<i8", bytes_of_number(*number)};
  }
  if (const auto* number = data.get_if<double>()) {
    return OpaqueForm{"NUMPY:<f8", bytes_of_number(*number)};
  }
  return std::nullopt;
}

std::optional<Value> from_opaque(std::string_view tag, std::string_view bytes) {
  if (tag.starts_with("NUMPY:|S")) {
    const auto end = bytes.find_last_not_of('\0');
    return Value::Bytes{std::string(bytes.substr(0, end + 1))};
  }
  if (tag == "NUMPY:|b1" && bytes.size() == 1) {
    return Value(bytes[0] != 0);
  }
  if (tag == "NUMPY:<i8") {
    return number_of_bytes<std::int64_t>(bytes);
  }
  return tag == "NUMPY:<f8" ? number_of_bytes<double>(bytes) : std::nullopt;
}

}  // namespace tdref
