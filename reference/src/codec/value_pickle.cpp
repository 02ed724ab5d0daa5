// SPDX-License-Identifier: BSD-3-Clause
#include "codec/value_pickle.h"

#include <tdref/pickle.h>

#include "codec/pickle_reader.h"

namespace tdref {
namespace {

// A Value takes more than this, but no more than a few times.
constexpr std::size_t kObjectBytes = 16;
// The only key under which an object that is not a literal may stand.
constexpr const char* kClassKey = "cls";

class ValueReader {
 public:
  ValueReader(const PickledObjects& objects, CopyBudget& budget)
      : objects_(objects), budget_(budget) {}

  Value read(ObjectId id, int depth) {
    check_depth(depth);
    budget_.spend(kObjectBytes);
    return std::visit([&](const auto& data) { return convert(data, depth); }, objects_[id].data);
  }

 private:
  Value convert(std::monostate, int) { return Value(); }
  Value convert(bool data, int) { return data; }
  Value convert(std::int64_t data, int) { return data; }
  Value convert(double data, int) { return data; }
  Value convert(const PickleObject::Text& data, int) {
    budget_.spend(data.utf8.size());
    return std::string(data.utf8);
  }
  Value convert(const PickleObject::Bytes& data, int) {
    budget_.spend(data.data.size());
    return Value::Bytes{std::string(data.data)};
  }
  Value convert(const PickleObject::List& data, int depth) { return read_all(data.items, depth); }
  Value convert(const PickleObject::Tuple& data, int depth) {
    return Value::Tuple{read_all(data.items, depth)};
  }
  Value convert(const PickleObject::Dict& data, int depth) {
    Value::Dict items;
    for (const auto& [key, value] : data.items) {
      auto name = read(key, depth + 1);
      auto item = name == Value(kClassKey) ? read_class(value, depth + 1) : read(value, depth + 1);
      items.emplace_back(std::move(name), std::move(item));
    }
    return items;
  }
  template <typename Other>
  Value convert(const Other&, int) {
    TORCH_CHECK_VALUE(
        false,
        "the pickle holds an object that is not a literal; allowed are None, bool, int, "
        "float, str, bytes, list, tuple and dict, and under 'cls' a class");
  }

  // Metadata names a class, which is not looked for.
  Value read_class(ObjectId id, int depth) {
    const auto* cls = objects_.get_if<PickleObject::Global>(id);
    if (cls == nullptr) {
      return read(id, depth);
    }
    budget_.spend(kObjectBytes + cls->module.size() + cls->name.size());
    return PythonClass{std::string(cls->module), std::string(cls->name)};
  }

  Value::List read_all(const std::vector<ObjectId>& ids, int depth) {
    Value::List items;
    for (const auto id : ids) {
      items.push_back(read(id, depth + 1));
    }
    return items;
  }

  const PickledObjects& objects_;
  CopyBudget& budget_;
};

void write_all(PickleWriter& writer, const Value::List& items) {
  for (const auto& item : items) {
    write_value(writer, item);
  }
}

struct ValueWriter {
  PickleWriter& writer;

  void operator()(std::monostate) { writer.none(); }
  void operator()(bool data) { writer.boolean(data); }
  void operator()(std::int64_t data) { writer.integer(data); }
  void operator()(double data) { writer.floating(data); }
  void operator()(const std::string& data) { writer.text(data); }
  void operator()(const Value::Bytes& data) { writer.bytes(data.data); }
  void operator()(const Value::List& data) {
    writer.begin_list();
    write_all(writer, data);
    writer.end_list();
  }
  void operator()(const Value::Tuple& data) {
    writer.begin_tuple();
    write_all(writer, data.items);
    writer.end_tuple();
  }
  void operator()(const PythonClass& cls) { writer.global(cls.module, cls.name); }
  void operator()(const Value::Dict& data) {
    writer.begin_dict();
    for (const auto& [key, value] : data) {
      write_value(writer, key);
      write_value(writer, value);
    }
    writer.end_dict();
  }
};

}  // namespace

Value to_value(const PickledObjects& objects, ObjectId id, CopyBudget& budget) {
  return ValueReader(objects, budget).read(id, 0);
}

Value to_value(const PickledObjects& objects) {
  CopyBudget budget(objects.message_bytes());
  return to_value(objects, objects.root(), budget);
}

void write_value(PickleWriter& writer, const Value& value) {
  value.visit(ValueWriter{writer});
}

std::string pickle_value(const Value& value) {
  PickleWriter writer;
  write_value(writer, value);
  return std::move(writer).finish();
}

Value unpickle_value(std::string_view bytes) {
  return to_value(read_pickle(bytes));
}

}  // namespace tdref
