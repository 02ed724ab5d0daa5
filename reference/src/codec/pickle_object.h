// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tdref {

/// Numbers the objects of one pickle; an object that the pickle shares has one number.
using ObjectId = std::uint32_t;

/// Holds one object as the pickle spells it. Texts and bytes point into the message.
///
/// A global stands for itself: nothing is imported, and a call is only recorded.
struct PickleObject {
  struct Text {
    std::string_view utf8;
  };
  struct Bytes {
    std::string_view data;
  };
  struct List {
    std::vector<ObjectId> items;
  };
  struct Tuple {
    std::vector<ObjectId> items;
  };
  struct Dict {
    std::vector<std::pair<ObjectId, ObjectId>> items;
  };
  struct Set {
    std::vector<ObjectId> items;
  };
  struct Global {
    std::string_view module;
    std::string_view name;
    bool operator==(const Global&) const = default;
  };
  /// `callable(*arguments)`, or `cls.__new__(cls, *arguments)`; then `__setstate__(state)`.
  struct Call {
    ObjectId callable;
    ObjectId arguments;
    std::optional<ObjectId> state;
  };
  struct Persistent {
    ObjectId id;
  };

  std::variant<std::monostate,
               bool,
               std::int64_t,
               double,
               Text,
               Bytes,
               List,
               Tuple,
               Dict,
               Set,
               Global,
               Call,
               Persistent>
      data;
};

/// Holds what a pickle says. Objects may contain each other, even in circles: whoever walks them
/// bounds the depth.
class PickledObjects {
 public:
  PickledObjects(std::vector<PickleObject> objects, ObjectId root, std::size_t message_bytes)
      : objects_(std::move(objects)), root_(root), message_bytes_(message_bytes) {}

  ObjectId root() const { return root_; }
  std::size_t message_bytes() const { return message_bytes_; }
  const PickleObject& operator[](ObjectId id) const { return objects_[id]; }

  template <typename T>
  const T* get_if(ObjectId id) const {
    return std::get_if<T>(&objects_[id].data);
  }

  // What follows throws c10::ValueError, with `what` in the message, for an object of another form.

  template <typename T>
  const T& get(ObjectId id, const char* what) const {
    const auto* data = get_if<T>(id);
    check(data != nullptr, what);
    return *data;
  }

  std::string_view text(ObjectId id, const char* what) const {
    return get<PickleObject::Text>(id, what).utf8;
  }
  /// Reads a list or a tuple.
  const std::vector<ObjectId>& sequence(ObjectId id, const char* what) const;
  /// Finds an item of a dict by a string key; the last one counts.
  std::optional<ObjectId> find(ObjectId dict, std::string_view key) const;
  ObjectId field(ObjectId dict, std::string_view key) const;

  /// Returns the global that is called, if the object is a call.
  const PickleObject::Global* callee(ObjectId id) const;
  /// Returns the arguments of a call, of which there are `least` to `most`.
  const std::vector<ObjectId>& arguments(ObjectId call,
                                         std::size_t least,
                                         std::size_t most,
                                         const char* what) const;

 private:
  static void check(bool condition, const char* what);

  std::vector<PickleObject> objects_;
  ObjectId root_;
  std::size_t message_bytes_;
};

}  // namespace tdref
