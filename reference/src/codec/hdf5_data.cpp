// SPDX-License-Identifier: BSD-3-Clause
#include "codec/hdf5_data.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "codec/hdf5_object.h"
#include "codec/hdf5_types.h"
#include "codec/value_fields.h"
#include "tree/non_tensor.h"

namespace tdref {
namespace {

// What one element takes at least, once it is read.
constexpr std::size_t kElementBytes = 16;

bool has_mark(hid_t dataset, const char* mark) {
  return H5Aexists(dataset, mark) > 0;
}

// Puts elements in row-major order into nested lists.
Value nested_lists(std::vector<Value>::iterator& next, const Shape& shape, std::size_t dim) {
  if (dim == shape.size()) {
    return std::move(*next++);
  }
  Value::List list;
  for (std::int64_t i = 0; i < shape[dim]; ++i) {
    list.push_back(nested_lists(next, shape, dim + 1));
  }
  return list;
}

void read_all(hid_t dataset, hid_t type, void* into) {
  TORCH_CHECK_VALUE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) >= 0,
                    "HDF5 cannot read a dataset of text or other data");
}

std::vector<std::string> read_texts(hid_t dataset, std::size_t count, CopyBudget& budget) {
  std::vector<char*> texts(count, nullptr);
  read_all(dataset, hdf5_text_type(), texts.data());
  std::vector<std::string> copies;
  for (const char* text : texts) {
    copies.emplace_back(text == nullptr ? "" : text);
    budget.spend(copies.back().size());
  }
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, "a shape");
  H5Dvlen_reclaim(hdf5_text_type(), space, H5P_DEFAULT, texts.data());
  return copies;
}

std::vector<std::string> read_fixed(hid_t dataset,
                                    hid_t stored,
                                    std::size_t count,
                                    CopyBudget& budget) {
  const auto size = H5Tget_size(stored);
  budget.spend(static_cast<std::size_t>(
      bytes_of({static_cast<std::int64_t>(count)}, static_cast<std::int64_t>(size))));
  std::string elements(count * size, '\0');
  read_all(dataset, stored, elements.data());
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < count; ++i) {
    copies.push_back(elements.substr(i * size, size));
  }
  return copies;
}

std::string tag_of(hid_t opaque) {
  const std::unique_ptr<char, herr_t (*)(void*)> tag(H5Tget_tag(opaque), H5free_memory);
  return tag == nullptr ? "" : tag.get();
}

// As tensordict does, takes text for bytes unless it is known to be text.
std::vector<Value> as_values(std::vector<std::string> texts, bool is_text) {
  std::vector<Value> values;
  for (auto& text : texts) {
    values.push_back(is_text ? Value(std::move(text)) : Value(Value::Bytes{std::move(text)}));
  }
  return values;
}

std::optional<std::vector<Value>> read_values(hid_t dataset,
                                              hid_t stored,
                                              std::size_t count,
                                              CopyBudget& budget) {
  if (H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) > 0) {
    const bool is_text = has_mark(dataset, kHdf5TextMark) || has_mark(dataset, kHdf5StackMark);
    return as_values(read_texts(dataset, count, budget), is_text);
  }
  if (H5Tget_class(stored) != H5T_OPAQUE) {
    return std::nullopt;
  }
  const auto tag = tag_of(stored);
  std::vector<Value> values;
  for (const auto& bytes : read_fixed(dataset, stored, count, budget)) {
    auto value = from_opaque(tag, bytes);
    if (!value.has_value()) {
      return std::nullopt;
    }
    values.push_back(*std::move(value));
  }
  return values;
}

void flatten(const Value& data, std::size_t dims, std::vector<const Value*>& elements) {
  if (dims == 0) {
    elements.push_back(&data);
    return;
  }
  for (const auto& item : *data.get_if<Value::List>()) {
    flatten(item, dims - 1, elements);
  }
}

std::vector<const Value*> elements_of(const NonTensor& data) {
  std::vector<const Value*> elements;
  flatten(data.data, rows_of(data).size(), elements);
  return elements;
}

void check_element(const std::string& key, const Value& element) {
  const auto* text = element.get_if<std::string>();
  const auto* bytes = element.get_if<Value::Bytes>();
  TORCH_CHECK_NOT_IMPLEMENTED(text != nullptr || to_opaque(element).has_value(),
                              "the non-tensor data under '",
                              key,
                              "' of type ",
                              element.type_name(),
                              " has no form in an HDF5 file; allowed are str, bytes, bool, int and "
                              "float");
  TORCH_CHECK_NOT_IMPLEMENTED(
      (text == nullptr || text->find('\0') == std::string::npos) &&
          (bytes == nullptr || bytes->data.empty() || bytes->data.back() != '\0'),
      "the non-tensor data under '",
      key,
      "' is a str with a null character, or bytes that end in one, which an HDF5 file does not "
      "give back");
}

void write_texts(hid_t group,
                 const std::string& key,
                 const Shape& shape,
                 const std::vector<const Value*>& elements,
                 const Hdf5Mark& mark) {
  std::vector<const char*> texts;
  for (const auto* element : elements) {
    texts.push_back(element->get_if<std::string>()->c_str());
  }
  write_hdf5_dataset(group, key, hdf5_text_type(), shape, texts.data(), mark);
}

void write_opaque(hid_t group,
                  const std::string& key,
                  const Shape& shape,
                  const std::vector<const Value*>& elements,
                  const Hdf5Mark& mark) {
  OpaqueForm longest;
  for (const auto* element : elements) {
    auto form = *to_opaque(*element);
    if (form.bytes.size() > longest.bytes.size()) {
      longest = std::move(form);
    }
  }
  std::string bytes;
  for (const auto* element : elements) {
    auto form = *to_opaque(*element);
    form.bytes.resize(longest.bytes.size(), '\0');
    bytes += form.bytes;
  }
  const Hdf5Handle type(H5Tcreate(H5T_OPAQUE, longest.bytes.size()), H5Tclose, "a type");
  H5Tset_tag(type, longest.tag.c_str());
  write_hdf5_dataset(group, key, type, shape, bytes.data(), mark);
}

}  // namespace

std::optional<Hdf5Data> read_hdf5_data(hid_t dataset,
                                       hid_t stored,
                                       const Shape& shape,
                                       CopyBudget& budget) {
  const auto bytes =
      static_cast<std::size_t>(bytes_of(shape, static_cast<std::int64_t>(kElementBytes)));
  budget.spend(bytes);
  auto values = read_values(dataset, stored, bytes / kElementBytes, budget);
  if (!values.has_value()) {
    return std::nullopt;
  }
  auto next = values->begin();
  return Hdf5Data{nested_lists(next, shape, 0), shape, has_mark(dataset, kHdf5StackMark)};
}

void check_hdf5_data(const std::string& key, const NonTensor& data) {
  const auto elements = elements_of(data);
  TORCH_CHECK_NOT_IMPLEMENTED(!elements.empty(),
                              "the stack of non-tensor data under '",
                              key,
                              "' has no rows, and no type in an HDF5 file");
  for (const auto* element : elements) {
    check_element(key, *element);
    TORCH_CHECK_NOT_IMPLEMENTED(
        std::strcmp(element->type_name(), elements.front()->type_name()) == 0,
        "the stack of non-tensor data under '",
        key,
        "' has both ",
        elements.front()->type_name(),
        " and ",
        element->type_name(),
        "; an HDF5 file gives back one type");
  }
}

void write_hdf5_data(hid_t group, const std::string& key, const NonTensor& data) {
  const auto shape = rows_of(data);
  const auto elements = elements_of(data);
  const bool is_text = elements.front()->is<std::string>();
  const auto mark = data.stacked ? Hdf5Mark::kStack : (is_text ? Hdf5Mark::kText : Hdf5Mark::kNone);
  (is_text ? write_texts : write_opaque)(group, key, shape, elements, mark);
}

}  // namespace tdref
