// SPDX-License-Identifier: BSD-3-Clause

#include "codec/elements.h"
#include "codec/hdf5.h"
#include "codec/hdf5_data.h"
#include "codec/hdf5_object.h"
#include "codec/hdf5_types.h"
#include "codec/limits.h"
#include "tree/stack.h"
#include "tree/visit.h"

namespace tdref {
namespace {

// What the groups of a file can hold: one tensor under each key.
TensorDict items_for_a_group(const TensorDictBase& td) {
  const auto* items = items_of(td);
  return items == nullptr ? to_dense(td) : *items;
}

void check_leaf(const std::string& key, const Entry& entry) {
  const auto* leaf = entry.leaf();
  TORCH_CHECK_NOT_IMPLEMENTED(
      leaf != nullptr, "the jagged leaf '", key, "' cannot be written to an HDF5 file");
  const auto& tensor = leaf->tensor;
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.is_cpu() &&
                                  !tensor.is_quantized() &&
                                  hdf5_type(tensor.scalar_type()).has_value(),
                              "the leaf '",
                              key,
                              "' cannot be written to an HDF5 file: layout ",
                              tensor.layout(),
                              ", device ",
                              tensor.device(),
                              ", dtype ",
                              tensor.dtype());
}

void check_items(const TensorDict& td, int depth) {
  check_depth(depth);
  for (const auto& [key, value] : td.items()) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !key.empty() && key != "." &&
            key.find_first_of(std::string_view("/\0", 2)) == std::string::npos,
        "'",
        key,
        "' cannot be a name in an HDF5 file");
    if (const auto* nested = value.nested()) {
      check_items(items_for_a_group(*nested), depth + 1);
    } else if (const auto* data = value.non_tensor()) {
      check_hdf5_data(key, *data);
    } else {
      check_leaf(key, value);
    }
  }
}

void write_items(hid_t group, const TensorDict& td) {
  for (const auto& [key, value] : td.items()) {
    if (const auto* nested = value.nested()) {
      const Hdf5Handle below(
          H5Gcreate2(group, key.c_str(), hdf5_link_properties(), H5P_DEFAULT, H5P_DEFAULT),
          H5Gclose,
          "the group '" + key + "'");
      write_items(below, items_for_a_group(*nested));
    } else if (const auto* data = value.non_tensor()) {
      write_hdf5_data(group, key, *data);
    } else {
      const auto elements = row_major(value.tensor());
      write_hdf5_dataset(group,
                         key,
                         *hdf5_type(elements.scalar_type()),
                         elements.sizes(),
                         elements.const_data_ptr(),
                         Hdf5Mark::kNone);
    }
  }
}

}  // namespace

void write_hdf5(const std::string& filename, const TensorDictBase& td) {
  const Hdf5Session session;
  const auto items = items_for_a_group(td);
  check_items(items, 0);
  TORCH_CHECK_VALUE(filename.find('\0') == std::string::npos,
                    "the name of a file has a null character, which ends it for the system");
  const Hdf5Handle file(H5Fcreate(filename.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                        H5Fclose,
                        "the file " + filename);
  write_items(file, items);
}

}  // namespace tdref
