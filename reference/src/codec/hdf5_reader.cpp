// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5_reader.h"

#include <tdref/pickle.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codec/dtype_names.h"
#include "codec/hdf5_data.h"
#include "codec/hdf5_types.h"
#include "codec/layout.h"
#include "codec/limits.h"
#include "codec/value_fields.h"
#include "tree/walk.h"

namespace tdref {
namespace {

// Elements of complex128 begin at multiples of their size.
constexpr std::size_t kAlignment = 16;

Value int_list(const Shape& shape) {
  return Value::List(shape.begin(), shape.end());
}

// The dimensions that two shapes begin with.
Shape common_begin(const Shape& a, const Shape& b) {
  const auto most = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return {a.begin(), std::mismatch(a.begin(), a.begin() + most, b.begin()).first};
}

class Reader {
 public:
  Reader(std::size_t file_bytes, std::optional<Shape> batch_size)
      : budget_(file_bytes), batch_size_(std::move(batch_size)) {}

  /// Returns the metadata of a group, and its batch size.
  std::pair<Value, Shape> read(hid_t group, int depth) {
    check_depth(depth);
    Level level;
    H5G_info_t info{};
    TORCH_CHECK_VALUE(H5Gget_info(group, &info) >= 0, "HDF5 cannot list a group");
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const auto name = name_of(group, i);
      budget_.spend(sizeof(Entry) + name.size());
      check_is_within(group, name);
      const Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, quoted(name));
      if (H5Iget_type(object) == H5I_GROUP) {
        auto [metadata, shape] = read(object, depth + 1);
        level.nested.emplace_back(name, std::move(metadata));
        level.shapes.push_back(std::move(shape));
      } else {
        read_dataset(name, object, level);
      }
    }
    return finish(std::move(level));
  }

  std::string take_storage() { return std::move(storage_); }

 private:
  struct Data {
    std::string name;
    Hdf5Data data;
  };
  struct Level {
    Value::Dict leaves;
    Value::Dict nested;
    std::vector<Data> data;
    /// Of all that has one.
    std::vector<Shape> shapes;
  };

  static std::string quoted(const std::string& name) { return "'" + name + "'"; }

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
    TORCH_CHECK_VALUE(!name.empty() && name != "." && name.find('/') == std::string::npos &&
                          H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) >= 0 &&
                          link.type == H5L_TYPE_HARD,
                      "the link '",
                      name,
                      "' leads elsewhere; allowed are datasets and groups");
  }

  void read_dataset(const std::string& name, hid_t dataset, Level& level) {
    TORCH_CHECK_VALUE(H5Iget_type(dataset) == H5I_DATASET, quoted(name), " is no dataset");
    check_has_its_data(name, dataset);
    const auto shape = shape_of(name, dataset);
    const Hdf5Handle stored(H5Dget_type(dataset), H5Tclose, "the type of " + quoted(name));
    if (const auto dtype = dtype_of_hdf5(stored)) {
      level.leaves.emplace_back(name, read_numbers(name, dataset, *dtype, shape));
      level.shapes.push_back(shape);
      return;
    }
    auto data = read_hdf5_data(dataset, stored, shape, budget_);
    TORCH_CHECK_VALUE(
        data.has_value(), "the dataset ", quoted(name), " holds data of an unsupported type");
    if (data->is_stack) {
      level.shapes.push_back(shape);
    }
    level.data.push_back({name, *std::move(data)});
  }

  static void check_has_its_data(const std::string& name, hid_t dataset) {
    const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, "properties");
    TORCH_CHECK_VALUE(
        H5Pget_layout(properties) != H5D_VIRTUAL && H5Pget_external_count(properties) == 0,
        "the dataset ",
        quoted(name),
        " has its data in another file");
  }

  static Shape shape_of(const std::string& name, hid_t dataset) {
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, "the shape of " + quoted(name));
    const auto dims = H5Sget_simple_extent_ndims(space);
    TORCH_CHECK_VALUE(dims >= 0 && H5Sget_simple_extent_type(space) != H5S_NULL,
                      "the dataset ",
                      quoted(name),
                      " has no shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(dims));
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    const Shape shape(sizes.begin(), sizes.end());
    TORCH_CHECK_VALUE(
        std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size >= 0; }),
        "the dataset ",
        quoted(name),
        " is too large");
    return shape;
  }

  // Returns what consolidated metadata says of the leaf.
  Value read_numbers(const std::string& name,
                     hid_t dataset,
                     at::ScalarType dtype,
                     const Shape& shape) {
    const auto bytes = bytes_of(shape, static_cast<std::int64_t>(c10::elementSize(dtype)));
    budget_.spend(static_cast<std::size_t>(bytes));
    storage_.resize((storage_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const auto span = span_of(static_cast<std::int64_t>(storage_.size()), bytes);
    storage_.resize(static_cast<std::size_t>(span.stop));
    TORCH_CHECK_VALUE(
        H5Dread(
            dataset, *hdf5_type(dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, &storage_[0] + span.start) >=
            0,
        "HDF5 cannot read the dataset ",
        quoted(name));
    return Value::Tuple{
        {std::string(dtype_name(dtype).name), int_list(shape), span.start, span.stop, span.pad}};
  }

  std::pair<Value, Shape> finish(Level level) const {
    const auto batch_size = batch_size_.value_or(batch_size_within(level.shapes));
    Value::Dict non_tensors;
    for (auto& [name, data] : level.data) {
      if (const auto dims = stacked_dims(data, batch_size); dims > 0) {
        level.nested.emplace_back(std::move(name), describe_stack(std::move(data.data), dims));
      } else {
        non_tensors.emplace_back(std::move(name), describe_data(std::move(data.data)));
      }
    }
    Value::Dict metadata{
        {"cls", "TensorDict"},
        {"non_tensors", std::move(non_tensors)},
        {"leaves", std::move(level.leaves)},
        {"cls_metadata", Value::Dict{{"batch_size", int_list(batch_size)}, {"names", Value()}}}};
    std::move(level.nested.begin(), level.nested.end(), std::back_inserter(metadata));
    return {std::move(metadata), batch_size};
  }

  static Shape batch_size_within(const std::vector<Shape>& shapes) {
    if (shapes.empty()) {
      return {};
    }
    Shape batch_size = shapes.front();
    for (const auto& shape : shapes) {
      batch_size = common_begin(batch_size, shape);
    }
    return batch_size;
  }

  // A stack of other rows than those of the batch is one datum.
  static std::size_t stacked_dims(const Hdf5Data& data, const Shape& batch_size) {
    return data.is_stack ? common_begin(data.shape, batch_size).size() : 0;
  }

  static Value describe_data(Value data) {
    return Value::Tuple{{std::move(data), Value(Value::List()), Value()}};
  }

  static Value describe_stack(Value rows, std::size_t dims) {
    Value::Dict data;
    Value::Dict stacks;
    for (auto& row : *rows.get_if<Value::List>()) {
      if (dims > 1) {
        stacks.emplace_back(member_key(stacks.size()), describe_stack(std::move(row), dims - 1));
      } else {
        data.emplace_back(member_key(data.size()), describe_data(std::move(row)));
      }
    }
    Value::Dict metadata{{"cls", "NonTensorStack"},
                         {"non_tensors", std::move(data)},
                         {"leaves", Value::Dict()},
                         {"cls_metadata", Value::Dict{{"stack_dim", 0}}}};
    std::move(stacks.begin(), stacks.end(), std::back_inserter(metadata));
    return metadata;
  }

  CopyBudget budget_;
  std::optional<Shape> batch_size_;
  std::string storage_;
};

}  // namespace

std::string read_hdf5_group(const Hdf5Place& place, const std::optional<Shape>& batch_size) {
  const Hdf5Handle file(H5Fopen(place.filename, H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "it");
  const Hdf5Handle group(H5Gopen2(file, place.group, H5P_DEFAULT),
                         H5Gclose,
                         "the group '" + std::string(place.group) + "'");
  Reader reader(place.file_bytes, batch_size);
  const auto metadata = pickle_value(reader.read(group, 0).first);
  std::string answer = reader.take_storage();
  const std::uint64_t storage_bytes = answer.size();
  answer += metadata;
  answer.append(reinterpret_cast<const char*>(&storage_bytes), sizeof(storage_bytes));
  return answer;
}

}  // namespace tdref
