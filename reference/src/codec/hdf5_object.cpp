// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5_object.h"

#include <vector>

#include "codec/hdf5_types.h"

namespace tdref {
namespace {

hid_t make_space(const std::vector<hsize_t>& sizes) {
  return sizes.empty() ? H5Screate(H5S_SCALAR)
                       : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
}

void write_attribute(hid_t dataset,
                     const char* name,
                     hid_t type,
                     const std::vector<hsize_t>& sizes,
                     const void* data) {
  const Hdf5Handle space(make_space(sizes), H5Sclose, "a shape");
  const Hdf5Handle attribute(
      H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  TORCH_CHECK_VALUE(H5Awrite(attribute, type, data) >= 0, "HDF5 cannot write ", name);
}

void write_mark(hid_t dataset, Hdf5Mark mark, const Shape& shape) {
  if (mark == Hdf5Mark::kText) {
    const std::int8_t yes = 1;
    write_attribute(dataset, kHdf5TextMark, hdf5_bool_type(), {}, &yes);
  } else if (mark == Hdf5Mark::kStack) {
    write_attribute(dataset, kHdf5StackMark, H5T_NATIVE_INT64, {shape.size()}, shape.data());
  }
}

hid_t make_link_properties() {
  const hid_t properties = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_char_encoding(properties, H5T_CSET_UTF8);
  return properties;
}

}  // namespace

hid_t hdf5_link_properties() {
  static const hid_t kProperties = make_link_properties();
  return kProperties;
}

void write_hdf5_dataset(hid_t group,
                        const std::string& key,
                        hid_t type,
                        c10::IntArrayRef shape,
                        const void* elements,
                        Hdf5Mark mark) {
  const Hdf5Handle space(make_space({shape.begin(), shape.end()}), H5Sclose, "a shape");
  const Hdf5Handle dataset(
      H5Dcreate2(group, key.c_str(), type, space, hdf5_link_properties(), H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose,
      "the dataset '" + key + "'");
  TORCH_CHECK_VALUE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) >= 0,
                    "HDF5 cannot write the dataset '",
                    key,
                    "'");
  write_mark(dataset, mark, shape.vec());
}

}  // namespace tdref
