// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/boxed.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tdref {

/// Names a class that only Python has: its module, and the name that it has there.
struct PythonClass {
  std::string module;
  std::string name;

  bool operator==(const PythonClass&) const = default;
};

/// Holds a Python literal: what a tensordict may carry beside tensors, and what its metadata is
/// made of, which names classes too.
///
/// Values copy and compare. A dict keeps its insertion order; two dicts compare equal in any order,
/// as in Python.
class Value {
 public:
  struct Bytes {
    std::string data;
    bool operator==(const Bytes&) const = default;
  };
  using List = std::vector<Value>;
  struct Tuple {
    std::vector<Value> items;
  };
  using Dict = std::vector<std::pair<Value, Value>>;

  Value() = default;  // None
  Value(std::nullptr_t) {}
  Value(bool data) : data_(data) {}
  Value(int data) : data_(std::int64_t{data}) {}
  Value(std::int64_t data) : data_(data) {}
  Value(double data) : data_(data) {}
  Value(const char* data) : data_(std::string(data)) {}
  Value(std::string data) : data_(std::move(data)) {}
  Value(Bytes data) : data_(std::move(data)) {}
  Value(List data) : data_(std::move(data)) {}
  Value(Tuple data) : data_(std::move(data)) {}
  Value(Dict data) : data_(std::move(data)) {}
  Value(PythonClass data) : data_(Boxed(std::move(data))) {}

  bool is_none() const { return is<std::monostate>(); }

  template <typename T>
  bool is() const {
    return get_if<T>() != nullptr;
  }

  /// Points at the data if it has type T (bool, std::int64_t, double, std::string, Bytes, List,
  /// Tuple, Dict, PythonClass).
  template <typename T>
  const T* get_if() const {
    if constexpr (std::is_same_v<T, PythonClass>) {
      const auto* boxed = std::get_if<Boxed<T>>(&data_);
      return boxed == nullptr ? nullptr : &**boxed;
    } else {
      return std::get_if<T>(&data_);
    }
  }
  template <typename T>
  T* get_if() {
    return const_cast<T*>(std::as_const(*this).get_if<T>());
  }

  /// Calls `visitor` with the data: std::monostate for None, else one of the types above.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit([&](const auto& data) -> decltype(auto) { return visitor(unboxed(data)); },
                      data_);
  }

  /// Points at the items of a list or a tuple, which readers of metadata treat alike.
  const std::vector<Value>* sequence() const;

  /// Points at the item of a dict under a string key, if the value is a dict that has it.
  const Value* find(std::string_view key) const;

  /// Names the Python type, for messages.
  const char* type_name() const;

  /// Compares types too: 1, 1.0 and True differ.
  bool operator==(const Value& other) const;

 private:
  template <typename T>
  static const T& unboxed(const T& data) {
    return data;
  }
  static const PythonClass& unboxed(const Boxed<PythonClass>& data) { return *data; }

  // A leaf is described by ten values, so that they are small.
  std::variant<std::monostate,
               bool,
               std::int64_t,
               double,
               std::string,
               Bytes,
               List,
               Tuple,
               Dict,
               Boxed<PythonClass>>
      data_;
};

}  // namespace tdref
