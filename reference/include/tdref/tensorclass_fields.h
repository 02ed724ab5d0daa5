// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the functions of tensorclass.h are made of.

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>
#include <tdref/tensordict.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tdref {

template <typename T>
concept Described = requires {
  T::kDescription.cls();
};

namespace fields {

template <typename T, typename... Others>
concept OneOf = (std::same_as<T, Others> || ...);
template <typename T>
concept Literal = OneOf<T, bool, std::int64_t, double, std::string>;
template <typename T>
concept Optional = OneOf<T, std::optional<typename T::value_type>>;
template <typename T>
concept MayBeNone = Optional<T> || OneOf<T, Value, NonTensor>;

/// What a std::optional may hold; T if it is none.
template <typename T>
struct Some {
  using Type = T;
};
template <Optional T>
struct Some<T> {
  using Type = typename T::value_type;
};

inline std::string name_of(const PythonClass& cls) {
  return "the tensorclass " + cls.module + '.' + cls.name;
}

inline std::string name_of(const TensorDictBase& td) {
  if (const auto* tensorclass = td.as<TensorClass>()) {
    return name_of(tensorclass->cls());
  }
  if (td.as<LazyStackedTensorDict>() != nullptr) {
    return "a LazyStackedTensorDict";
  }
  return td.as<TensorDict>() != nullptr ? "a TensorDict" : "a PersistentTensorDict";
}

inline std::string name_of(const Entry& entry) {
  if (const auto* td = entry.nested()) {
    return name_of(*td);
  }
  if (const auto* data = entry.non_tensor()) {
    return data->stacked ? "a list with a datum for each row" : data->data.type_name();
  }
  return entry.leaf() != nullptr ? "a tensor" : "a jagged tensor";
}

/// Names what fields of each type hold that is not named elsewhere, for messages.
template <typename T>
constexpr const char* kName = nullptr;
template <>
inline constexpr const char* kName<at::Tensor> = "a tensor";
template <>
inline constexpr const char* kName<Jagged> = "a jagged tensor";
template <>
inline constexpr const char* kName<TensorDict> = "a TensorDict";
template <>
inline constexpr const char* kName<AnyTensorDict> = "a tensordict";
template <>
inline constexpr const char* kName<NonTensor> = "non-tensor data";
template <>
inline constexpr const char* kName<Value> = "one datum for all rows";

template <typename T, typename Whole = typename Some<T>::Type>
constexpr bool is_allowed() {
  return Described<Whole> || Literal<Whole> || kName<Whole> != nullptr;
}

template <typename T>
std::string allowed() {
  if constexpr (Optional<T>) {
    return allowed<typename T::value_type>() + " or None";
  } else if constexpr (Described<T>) {
    return name_of(T::kDescription.cls());
  } else if constexpr (Literal<T>) {
    return Value(T()).type_name();
  } else {
    return kName<T>;
  }
}

/// Says which field a message is about, by the path from the root, which is empty for the root.
struct Place {
  PythonClass root;
  KeyPath path = {};

  Place below(std::string_view name) const {
    auto place = *this;
    place.path.emplace_back(name);
    return place;
  }
  std::string text() const {
    return path.empty() ? "the tensordict"
                        : "the field " + to_string(path) + " of " + name_of(root);
  }
};

template <typename T>
void check_type(bool fits, const std::string& is, const Place& place) {
  TORCH_CHECK_TYPE(fits, place.text(), " is ", is, "; allowed is ", allowed<T>());
}

template <typename T>
std::optional<T> copy(const T* data) {
  return data == nullptr ? std::nullopt : std::optional<T>(*data);
}

/// Returns what a field of type T makes of an entry: nothing if the entry is of another type.
template <typename T>
std::optional<T> find(const Entry& entry) {
  const auto* td = entry.nested();
  const auto* data = entry.non_tensor();
  if constexpr (OneOf<T, at::Tensor>) {
    return copy(entry.leaf() == nullptr ? nullptr : &entry.leaf()->tensor);
  } else if constexpr (OneOf<T, Jagged>) {
    return copy(entry.jagged());
  } else if constexpr (OneOf<T, TensorDict>) {
    return copy(td == nullptr ? nullptr : td->as<TensorDict>());
  } else if constexpr (OneOf<T, AnyTensorDict>) {
    return td == nullptr ? std::nullopt : std::optional<AnyTensorDict>(*td);
  } else if constexpr (OneOf<T, NonTensor>) {
    return copy(data);
  } else if constexpr (OneOf<T, Value>) {
    return copy(data == nullptr || data->stacked ? nullptr : &data->data);
  } else {
    const auto datum = find<Value>(entry);
    return copy(datum.has_value() ? datum->get_if<T>() : nullptr);
  }
}

/// Points at the fields of a tensorclass, if it is that of T. Classes are compared by their whole
/// name, which is all that arrives for a root: "module.Outer" and "Inner" may be the class
/// Outer.Inner of a module.
template <Described T>
const TensorDict* fields_of(const TensorDictBase* td) {
  const auto* tensorclass = td == nullptr ? nullptr : td->as<TensorClass>();
  return tensorclass != nullptr && name_of(*td) == allowed<T>() ? &tensorclass->contents()
                                                                : nullptr;
}

template <Described T>
T read_fields(const TensorDict& td, const Place& place);

template <typename T, typename Whole = typename Some<T>::Type>
T read_entry(const Entry& entry, const Place& place) {
  if constexpr (Described<Whole>) {
    const auto* fields = fields_of<Whole>(entry.nested());
    check_type<T>(fields != nullptr, name_of(entry), place);
    return read_fields<Whole>(*fields, place);
  } else {
    auto found = find<Whole>(entry);
    check_type<T>(found.has_value(), name_of(entry), place);
    return *std::move(found);
  }
}

inline bool is_none(const Entry* entry) {
  return entry == nullptr ||
         (entry->non_tensor() != nullptr && *entry->non_tensor() == NonTensor());
}

template <typename T>
T read_field(const Entry* entry, const Place& place) {
  if constexpr (MayBeNone<T>) {
    if (is_none(entry)) {
      return T();
    }
  }
  TORCH_CHECK_VALUE(entry != nullptr, place.text(), " is missing; allowed is ", allowed<T>());
  return read_entry<T>(*entry, place);
}

template <Described T>
void check_no_others(const TensorDict& td, const Place& place) {
  std::vector<std::string_view> names;
  T::kDescription.for_each([&](const auto& field) { names.push_back(field.name); });
  for (const auto& [key, entry] : td.items()) {
    TORCH_CHECK_VALUE(T::kDescription.has_field(key),
                      place.below(key).text(),
                      " is ",
                      name_of(entry),
                      "; allowed are the fields ",
                      c10::Join(", ", names));
  }
}

template <Described T>
T read_fields(const TensorDict& td, const Place& place) {
  check_no_others<T>(td, place);
  auto value = T();
  T::kDescription.for_each([&](const auto& field) {
    auto& member = value.*field.member;
    using Member = std::remove_reference_t<decltype(member)>;
    member = read_field<Member>(td.find(std::string(field.name)), place.below(field.name));
  });
  return value;
}

inline void set(const Place& place, Entry entry, TensorDict& td) {
  try {
    td.set(place.path.back(), std::move(entry));
  } catch (c10::Error& error) {
    TORCH_RETHROW(error, place.text());
  }
}

template <Described T>
TensorClass write_fields(const T& value, const Shape& batch_size, const Place& place);

template <typename T>
void write_field(const T& value, const Place& place, TensorDict& td) {
  if constexpr (Optional<T>) {
    if (value.has_value()) {
      write_field(*value, place, td);
    }
  } else if constexpr (Described<T>) {
    set(place, write_fields(value, td.batch_size(), place), td);
  } else if constexpr (Literal<T> || OneOf<T, Value>) {
    write_field(NonTensor{Value(value)}, place, td);
  } else if (const Entry entry(value); !MayBeNone<T> || !is_none(&entry)) {
    set(place, entry, td);
  }
}

template <Described T>
TensorClass write_fields(const T& value, const Shape& batch_size, const Place& place) {
  TensorDict td(batch_size);
  T::kDescription.for_each(
      [&](const auto& field) { write_field(value.*field.member, place.below(field.name), td); });
  return {T::kDescription.cls(), std::move(td)};
}

}  // namespace fields
}  // namespace tdref
