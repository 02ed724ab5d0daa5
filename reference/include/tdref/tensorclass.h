// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensorclass_fields.h>
#include <tdref/tensordict.h>

#include <string>
#include <string_view>
#include <tuple>

namespace tdref {

template <typename Struct, typename T>
struct Field {
  std::string_view name;
  T Struct::*member;
};

/// Says which tensorclass of Python a struct is. The struct has it as a constant:
///
///     struct Sample {
///       at::Tensor image;
///       std::optional<std::string> origin = std::nullopt;
///       static constexpr auto kDescription = tdref::Description<Sample>("my_package", "Sample")
///                                                .field("image", &Sample::image)
///                                                .field("origin", &Sample::origin);
///     };
///
/// A field is an at::Tensor, a Jagged, a TensorDict, an AnyTensorDict or a struct with a
/// description; for non-tensor data it is a bool, std::int64_t, double or std::string, a Value, or
/// a NonTensor, which may have a datum for each row. A std::optional of one of these may be None,
/// and so may a Value and a NonTensor.
///
/// Order   as in the Python class: consolidate() lays out the fields in that order. In Python no
///         field may have the name of a method, such as 'split'.
/// Errors  when compiling: a field of another type, two fields of one name.
/// Source  tensordict 0.15.3 tensorclass
template <typename Struct, typename... Ts>
class Description {
 public:
  constexpr Description(std::string_view module,
                        std::string_view name,
                        std::tuple<Field<Struct, Ts>...> fields = {})
      : module_(module), name_(name), fields_(fields) {}

  /// Returns this description with one more field.
  template <typename T>
  constexpr Description<Struct, Ts..., T> field(std::string_view name, T Struct::*member) const {
    static_assert(fields::is_allowed<T>(), "a field of a tensorclass cannot have this type");
    TORCH_CHECK_VALUE(!has_field(name), "two fields have the name '", name, "'");
    const std::tuple<Field<Struct, T>> last({name, member});
    return {module_, name_, std::tuple_cat(fields_, last)};
  }

  PythonClass cls() const { return {std::string(module_), std::string(name_)}; }

  constexpr bool has_field(std::string_view name) const {
    return std::apply([&](const auto&... fields) { return ((fields.name == name) || ...); },
                      fields_);
  }

  /// Calls `visitor` with each Field in turn.
  template <typename Visitor>
  constexpr void for_each(Visitor&& visitor) const {
    std::apply([&](const auto&... fields) { (visitor(fields), ...); }, fields_);
  }

 private:
  std::string_view module_;
  std::string_view name_;
  std::tuple<Field<Struct, Ts>...> fields_;
};

/// Returns the tensorclass that a struct is, for operations. Its tensors are those of `value`, so
/// that what an operation writes into them is in `value` too; other data is copied, and
/// from_tensorclass() reads it back.
///
/// Shapes  nested structs have `batch_size` too. A field that is None is no entry, as in Python.
/// Errors  c10::TypeError: a tensor that is undefined. c10::Error: a shape that does not begin with
///         `batch_size`.
template <Described T>
TensorClass to_tensorclass(const T& value, const Shape& batch_size = {}) {
  return fields::write_fields(value, batch_size, {T::kDescription.cls()});
}

/// Returns the struct that a tensorclass is; its tensors are those of `td`. Classes are compared by
/// name, types exactly: an int is no float.
///
/// Errors  c10::TypeError: another class, or a field of another type. c10::ValueError: a field that
///         is missing, or that the struct has not.
template <Described T>
T from_tensorclass(const TensorDictBase& td) {
  const auto* contents = fields::fields_of<T>(&td);
  const fields::Place root{T::kDescription.cls()};
  fields::check_type<T>(contents != nullptr, fields::name_of(td), root);
  return fields::read_fields<T>(*contents, root);
}

/// As from_tensorclass(), but `td` names no class: several operations make a TensorDict of a
/// tensorclass. Below the root the classes must be there.
///
/// Source  tensordict 0.15.3 tensorclass.from_tensordict
template <Described T>
T from_tensordict(const TensorDict& td) {
  return fields::read_fields<T>(td, {T::kDescription.cls()});
}

}  // namespace tdref
