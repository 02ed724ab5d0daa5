// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

namespace tdref {

/// Holds a value elsewhere, so that what has it among its alternatives stays small. A copy has a
/// copy of the value.
template <typename T>
class Boxed {
 public:
  explicit Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(std::make_unique<T>(*other.value_)) {}
  Boxed(Boxed&&) = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) = default;
  ~Boxed() = default;

  const T& operator*() const { return *value_; }
  T& operator*() { return *value_; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace tdref
