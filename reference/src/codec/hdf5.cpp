// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5.h"

#include <ATen/ops/empty.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "codec/elements.h"
#include "codec/limits.h"
#include "codec/value_fields.h"

namespace tdref {
namespace {

// Closes an HDF5 object.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    TORCH_CHECK_VALUE(id >= 0, "HDF5 cannot open or make ", what);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }

  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Keeps HDF5 from printing its errors, which become libtorch's.
class SilentErrors {
 public:
  SilentErrors() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  SilentErrors(const SilentErrors&) = delete;
  SilentErrors& operator=(const SilentErrors&) = delete;
  ~SilentErrors() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// HDF5 has no booleans; as h5py does, they are an enumeration of two bytes' values.
hid_t make_bool_type() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

struct NumberType {
  at::ScalarType dtype;
  hid_t type;
};

const std::vector<NumberType>& number_types() {
  static const std::vector<NumberType> kTypes{{at::kByte, H5T_NATIVE_UINT8},
                                              {at::kChar, H5T_NATIVE_INT8},
                                              {at::kShort, H5T_NATIVE_INT16},
                                              {at::kInt, H5T_NATIVE_INT32},
                                              {at::kLong, H5T_NATIVE_INT64},
                                              {at::kUInt16, H5T_NATIVE_UINT16},
                                              {at::kUInt32, H5T_NATIVE_UINT32},
                                              {at::kUInt64, H5T_NATIVE_UINT64},
                                              {at::kFloat, H5T_NATIVE_FLOAT},
                                              {at::kDouble, H5T_NATIVE_DOUBLE},
                                              {at::kBool, make_bool_type()}};
  return kTypes;
}

hid_t type_of(const std::string& key, at::ScalarType dtype) {
  for (const auto& [known, type] : number_types()) {
    if (known == dtype) {
      return type;
    }
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "the leaf '", key, "' of dtype ", dtype, " has no type in an HDF5 file here");
}

// Compares numbers by size and sign, in any byte order, which HDF5 converts.
NumberType type_of(const std::string& name, hid_t dataset) {
  const Handle stored(H5Dget_type(dataset), H5Tclose, "the type of '" + name + "'");
  const Handle native(
      H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, "the type of '" + name + "'");
  for (const auto& known : number_types()) {
    if (H5Tequal(native, known.type) > 0) {
      return known;
    }
  }
  TORCH_CHECK_VALUE(false, "the dataset '", name, "' holds no numbers of a supported type");
}

class Reader {
 public:
  explicit Reader(std::size_t file_bytes) : budget_(file_bytes) {}

  TensorDict read(hid_t group, const Shape& batch_size, int depth = 0) {
    check_depth(depth);
    TensorDict td(batch_size);
    H5G_info_t info{};
    TORCH_CHECK_VALUE(H5Gget_info(group, &info) >= 0, "HDF5 cannot list a group");
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const auto name = name_of(group, i);
      budget_.spend(sizeof(Entry) + name.size());
      check_is_within(group, name);
      const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, "'" + name + "'");
      td.set(name,
             H5Iget_type(object) == H5I_GROUP ? Entry(read(object, batch_size, depth + 1))
                                              : Entry(read_dataset(name, object)));
    }
    return td;
  }

 private:
  static std::string name_of(hid_t group, hsize_t index) {
    const auto length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, nullptr, 0, H5P_DEFAULT);
    TORCH_CHECK_VALUE(length >= 0, "HDF5 cannot name a link");
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    H5Lget_name_by_idx(
        group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    return name;
  }

  static void check_is_within(hid_t group, const std::string& name) {
    H5L_info_t link{};
    TORCH_CHECK_VALUE(
        H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD,
        "the link '",
        name,
        "' leads elsewhere; allowed are datasets and groups");
  }

  at::Tensor read_dataset(const std::string& name, hid_t dataset) {
    TORCH_CHECK_VALUE(H5Iget_type(dataset) == H5I_DATASET, "'", name, "' is no dataset");
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose, "properties");
    TORCH_CHECK_VALUE(
        H5Pget_layout(properties) != H5D_VIRTUAL && H5Pget_external_count(properties) == 0,
        "the dataset '",
        name,
        "' has its data in another file");
    const auto [dtype, type] = type_of(name, dataset);
    const auto shape = shape_of(name, dataset);
    budget_.spend(static_cast<std::size_t>(
        bytes_of(shape, static_cast<std::int64_t>(c10::elementSize(dtype)))));
    const auto tensor = at::empty(shape, dtype);
    TORCH_CHECK_VALUE(
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.mutable_data_ptr()) >= 0,
        "HDF5 cannot read the dataset '",
        name,
        "'");
    return tensor;
  }

  static Shape shape_of(const std::string& name, hid_t dataset) {
    const Handle space(H5Dget_space(dataset), H5Sclose, "the shape of '" + name + "'");
    const auto dims = H5Sget_simple_extent_ndims(space);
    TORCH_CHECK_VALUE(dims >= 0 && H5Sget_simple_extent_type(space) != H5S_NULL,
                      "the dataset '",
                      name,
                      "' has no shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(dims));
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    const Shape shape(sizes.begin(), sizes.end());
    TORCH_CHECK_VALUE(
        std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size >= 0; }),
        "the dataset '",
        name,
        "' is too large");
    return shape;
  }

  CopyBudget budget_;
};

void write_dataset(hid_t group, const std::string& key, const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.is_cpu(),
                              "the leaf '",
                              key,
                              "' cannot be written to an HDF5 file: layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device());
  const auto elements = row_major(tensor);
  const auto type = type_of(key, elements.scalar_type());
  const std::vector<hsize_t> sizes(elements.sizes().begin(), elements.sizes().end());
  const Handle space(sizes.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                     H5Sclose,
                     "a shape");
  const Handle dataset(
      H5Dcreate2(group, key.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose,
      "the dataset '" + key + "'");
  TORCH_CHECK_VALUE(
      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.const_data_ptr()) >= 0,
      "HDF5 cannot write the dataset '",
      key,
      "'");
}

void write_items(hid_t group, const TensorDict& td) {
  for (const auto& [key, value] : td.items()) {
    TORCH_CHECK_NOT_IMPLEMENTED(!key.empty() && key != "." && key.find('/') == std::string::npos,
                                "'",
                                key,
                                "' cannot be a name in an HDF5 file");
    const auto* nested = value.nested() == nullptr ? nullptr : value.nested()->as<TensorDict>();
    TORCH_CHECK_NOT_IMPLEMENTED(value.leaf() != nullptr || nested != nullptr,
                                "the entry '",
                                key,
                                "' cannot be written to an HDF5 file; allowed are tensors and "
                                "TensorDicts");
    if (nested == nullptr) {
      write_dataset(group, key, value.tensor());
    } else {
      const Handle below(H5Gcreate2(group, key.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         H5Gclose,
                         "the group '" + key + "'");
      write_items(below, *nested);
    }
  }
}

}  // namespace

TensorDict read_hdf5(const std::string& filename,
                     const std::string& group,
                     const Shape& batch_size) {
  try {
    std::error_code none;
    const bool is_file = filename.find('\0') == std::string::npos &&
                         std::filesystem::is_regular_file(filename, none);
    TORCH_CHECK_VALUE(is_file, "there is no such file");  // a pipe would never open
    const SilentErrors errors_are_thrown;
    const Handle file(H5Fopen(filename.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "it");
    const Handle root(
        H5Gopen2(file, group.c_str(), H5P_DEFAULT), H5Gclose, "the group '" + group + "'");
    return Reader(std::filesystem::file_size(filename, none)).read(root, batch_size);
  } catch (c10::Error& error) {
    error.add_context("HDF5 file '" + filename + "'");
    throw;
  }
}

void write_hdf5(const std::string& filename, const TensorDict& td) {
  const SilentErrors errors_are_thrown;
  const Handle file(H5Fcreate(filename.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    H5Fclose,
                    "the file " + filename);
  write_items(file, td);
}

}  // namespace tdref
