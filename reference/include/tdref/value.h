// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
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
  Value(PythonClass data) : data_(std::move(data)) {}

  bool is_none() const { return is<std::monostate>(); }

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }

  /// Points at the data if it has type T (bool, std::int64_t, double, std::string, Bytes, List,
  /// Tuple, Dict, PythonClass).
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&data_);
  }

  /// Calls `visitor` with the data: std::monostate for None, else one of the types above.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), data_);
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
  std::variant<std::monostate,
               bool,
               std::int64_t,
               double,
               std::string,
               Bytes,
               List,
               Tuple,
               Dict,
               PythonClass>
      data_;
};

}  // namespace tdref
