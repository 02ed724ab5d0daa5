// SPDX-License-Identifier: BSD-3-Clause
#include "codec/pickle_reader.h"

#include <c10/util/Exception.h>

#include <bit>
#include <unordered_map>

#include "codec/opcodes.h"

namespace tdref {
namespace {

class PickleReader {
 public:
  explicit PickleReader(std::string_view bytes) : bytes_(bytes) {}

  // Executes opcodes until STOP and returns the object on the stack.
  PickledObjects run() {
    for (;;) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == opcode::kStop) {
        check(marks_.empty() && stack_.size() == 1, "STOP needs exactly one object on the stack");
        return {std::move(objects_), stack_.back(), position_};
      }
      execute(code);
    }
  }

 private:
  void execute(unsigned char code) {
    switch (code) {
      case opcode::kProto:
        check(take_unsigned(1) <= 5, "unknown pickle protocol");
        return;
      case opcode::kFrame:
        take(8);  // frames only help buffering
        return;

      case opcode::kNone:
        return push(std::monostate());
      case opcode::kNewTrue:
        return push(true);
      case opcode::kNewFalse:
        return push(false);
      case opcode::kBinInt:
        return push(std::int64_t{static_cast<std::int32_t>(take_unsigned(4))});
      case opcode::kBinInt1:
        return push(static_cast<std::int64_t>(take_unsigned(1)));
      case opcode::kBinInt2:
        return push(static_cast<std::int64_t>(take_unsigned(2)));
      case opcode::kLong1:
        return push(take_signed(take_unsigned(1)));
      case opcode::kBinFloat:
        return push(take_big_endian_double());

      case opcode::kShortBinUnicode:
        return push(PickleObject::Text{take(take_unsigned(1))});
      case opcode::kBinUnicode:
        return push(PickleObject::Text{take(take_unsigned(4))});
      case opcode::kBinUnicode8:
        return push(PickleObject::Text{take(take_unsigned(8))});
      case opcode::kShortBinBytes:
        return push(PickleObject::Bytes{take(take_unsigned(1))});
      case opcode::kBinBytes:
        return push(PickleObject::Bytes{take(take_unsigned(4))});
      case opcode::kBinBytes8:
        return push(PickleObject::Bytes{take(take_unsigned(8))});

      case opcode::kMark:
        marks_.push_back(stack_.size());
        return;
      case opcode::kEmptyTuple:
        return push(PickleObject::Tuple());
      case opcode::kTuple:
        return push(PickleObject::Tuple{pop_to_mark()});
      case opcode::kTuple1:
        return push(PickleObject::Tuple{pop(1)});
      case opcode::kTuple2:
        return push(PickleObject::Tuple{pop(2)});
      case opcode::kTuple3:
        return push(PickleObject::Tuple{pop(3)});
      case opcode::kEmptyList:
        return push(PickleObject::List());
      case opcode::kAppend:
        return append(pop(1));
      case opcode::kAppends:
        return append(pop_to_mark());
      case opcode::kEmptyDict:
        return push(PickleObject::Dict());
      case opcode::kSetItem:
        return set_items(pop(2));
      case opcode::kSetItems:
        return set_items(pop_to_mark());
      case opcode::kEmptySet:
        return push(PickleObject::Set());
      case opcode::kAddItems:
        return add(pop_to_mark());

      case opcode::kBinPut:
        memo_[take_unsigned(1)] = top();
        return;
      case opcode::kLongBinPut:
        memo_[take_unsigned(4)] = top();
        return;
      case opcode::kMemoize:
        memo_[memo_.size()] = top();
        return;
      case opcode::kBinGet:
        return recall(take_unsigned(1));
      case opcode::kLongBinGet:
        return recall(take_unsigned(4));

      case opcode::kGlobal: {
        const auto module = take_line();
        return push(PickleObject::Global{module, take_line()});
      }
      case opcode::kStackGlobal: {
        const auto names = pop(2);
        return push(PickleObject::Global{text(names[0]), text(names[1])});
      }
      case opcode::kReduce:
      case opcode::kNewObj: {
        const auto call = pop(2);
        return push(PickleObject::Call{call[0], call[1], std::nullopt});
      }
      case opcode::kBuild: {
        const auto state = pop(1)[0];
        auto* call = std::get_if<PickleObject::Call>(&objects_[top()].data);
        check(call != nullptr && !call->state.has_value(), "BUILD needs an object without a state");
        call->state = state;
        return;
      }
      case opcode::kBinPersId:
        return push(PickleObject::Persistent{pop(1)[0]});

      default:
        check(false, c10::str("the opcode ", static_cast<int>(code), " is not supported").c_str());
    }
  }

  void check(bool condition, const char* problem) const {
    TORCH_CHECK_VALUE(condition, "malformed pickle near byte ", position_, ": ", problem);
  }

  std::string_view take(std::uint64_t count) {
    check(count <= bytes_.size() - position_, "truncated");
    const auto taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  std::string_view take_line() {
    const auto end = bytes_.find('\n', position_);
    check(end != std::string_view::npos, "truncated");
    const auto line = take(end - position_);
    take(1);
    return line;
  }

  std::uint64_t take_unsigned(std::size_t count) {
    std::uint64_t value = 0;
    const auto digits = take(count);
    for (std::size_t i = 0; i < count; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    }
    return value;
  }

  std::int64_t take_signed(std::uint64_t count) {
    check(count <= 8, "integers of more than 64 bits are not supported");
    if (count == 0) {
      return 0;
    }
    const auto unused_bits = 64 - 8 * count;
    return static_cast<std::int64_t>(take_unsigned(count) << unused_bits) >> unused_bits;
  }

  double take_big_endian_double() {
    return std::bit_cast<double>(__builtin_bswap64(take_unsigned(8)));
  }

  template <typename T>
  void push(T data) {
    stack_.push_back(static_cast<ObjectId>(objects_.size()));
    objects_.push_back({std::move(data)});
  }

  // Objects below the last mark belong to the container that is being built there.
  std::size_t reachable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  ObjectId top() const {
    check(reachable() > 0, "the stack is empty");
    return stack_.back();
  }

  std::vector<ObjectId> pop(std::size_t count) {
    check(reachable() >= count, "the stack is empty");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<ObjectId> popped(first, stack_.end());
    stack_.erase(first, stack_.end());
    return popped;
  }

  std::vector<ObjectId> pop_to_mark() {
    check(!marks_.empty(), "no mark");
    auto popped = pop(reachable());
    marks_.pop_back();
    return popped;
  }

  void append(const std::vector<ObjectId>& items) {
    auto* list = std::get_if<PickleObject::List>(&objects_[top()].data);
    check(list != nullptr, "only a list can be appended to");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void add(const std::vector<ObjectId>& items) {
    auto* set = std::get_if<PickleObject::Set>(&objects_[top()].data);
    check(set != nullptr, "only a set can be added to");
    set->items.insert(set->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<ObjectId>& keys_and_values) {
    auto* dict = std::get_if<PickleObject::Dict>(&objects_[top()].data);
    check(dict != nullptr && keys_and_values.size() % 2 == 0,
          "items need a dict and come in pairs");
    for (std::size_t i = 0; i < keys_and_values.size(); i += 2) {
      dict->items.emplace_back(keys_and_values[i], keys_and_values[i + 1]);
    }
  }

  void recall(std::uint64_t index) {
    const auto found = memo_.find(index);
    check(found != memo_.end(), "nothing is memoized under this number");
    stack_.push_back(found->second);
  }

  std::string_view text(ObjectId id) const {
    const auto* data = std::get_if<PickleObject::Text>(&objects_[id].data);
    check(data != nullptr, "a global is named by strings");
    return data->utf8;
  }

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::vector<PickleObject> objects_;
  std::vector<ObjectId> stack_;
  std::vector<std::size_t> marks_;  // stack sizes
  std::unordered_map<std::uint64_t, ObjectId> memo_;
};

}  // namespace

PickledObjects take_pickle(std::string_view& bytes) {
  auto objects = PickleReader(bytes).run();
  bytes.remove_prefix(objects.message_bytes());
  return objects;
}

PickledObjects read_pickle(std::string_view bytes) {
  auto objects = take_pickle(bytes);
  TORCH_CHECK_VALUE(bytes.empty(), "malformed pickle: ", bytes.size(), " bytes follow its end");
  return objects;
}

}  // namespace tdref
