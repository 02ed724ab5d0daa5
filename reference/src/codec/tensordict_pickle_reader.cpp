// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include "codec/limits.h"
#include "codec/persistent_pickle.h"
#include "codec/pickle_reader.h"
#include "codec/tensor_pickle.h"
#include "codec/untrusted.h"
#include "codec/value_fields.h"
#include "codec/value_pickle.h"
#include "tree/non_tensor.h"
#include "tree/tensorclass.h"

namespace tdref {
namespace {

using Global = PickleObject::Global;

// An entry takes more than this, but no more than a few times.
constexpr std::size_t kEntryBytes = 64;
// How many files a pickle may name: what is read from them does not count as part of the message.
constexpr int kMaxFiles = 64;
// Where the tensorclasses are that hold non-tensor data.
constexpr std::string_view kOfTensordict = "tensordict.tensorclass";

bool is_tensordict_class(const Global& cls) {
  return cls == Global{"tensordict._td", "TensorDict"} || cls == Global{"tensordict", "TensorDict"};
}

class TensorDictReader {
 public:
  explicit TensorDictReader(const PickledObjects& objects)
      : objects_(objects), tensors_(objects), budget_(objects.message_bytes()) {}

  AnyTensorDict read(ObjectId id, int depth = 0) {
    check_depth(depth);
    budget_.spend(kEntryBytes);
    if (is_persistent(objects_, id)) {
      TORCH_CHECK_VALUE(++files_ <= kMaxFiles, "the pickle names more than ", kMaxFiles, " files");
      return read_persistent(objects_, id);
    }
    if (is_tensorclass(id)) {
      return read_tensorclass(id, depth);
    }
    const auto* callee = objects_.callee(id);
    TORCH_CHECK_VALUE(callee != nullptr && is_tensordict_call(*callee),
                      "the pickle holds ",
                      callee == nullptr ? "an object" : c10::str(callee->module, '.', callee->name),
                      " where a tensordict is allowed");
    const auto& arguments = objects_.arguments(id, 2, 2, "a tensordict");
    if (callee->name == "_rebuild_tensordict_files_consolidated") {
      return rebuild(to_value(objects_, arguments[0], budget_), tensors_.read(arguments[1]).tensor);
    }
    const auto& cls = objects_.get<Global>(arguments[0], "the class of a tensordict");
    if (cls == Global{"tensordict._lazy", "LazyStackedTensorDict"}) {
      return read_lazy_stack(arguments[1], depth);
    }
    TORCH_CHECK_VALUE(
        is_tensordict_class(cls),
        "the pickle holds a ",
        cls.module,
        '.',
        cls.name,
        "; allowed are TensorDict, LazyStackedTensorDict, PersistentTensorDict and tensorclasses");
    return read_state(arguments[1], depth);
  }

 private:
  // An object of any class that a tensordict says to be made of; non-tensor data is one too.
  bool is_tensorclass(ObjectId id) const {
    const auto* cls = objects_.callee(id);
    if (cls == nullptr || cls->module == kOfTensordict) {
      return false;
    }
    const auto state = objects_.get<PickleObject::Call>(id, "an object").state;
    return state.has_value() && objects_.get_if<PickleObject::Dict>(*state) != nullptr &&
           objects_.find(*state, "tensordict").has_value() &&
           objects_.find(*state, "non_tensordict").has_value();
  }

  AnyTensorDict read_tensorclass(ObjectId id, int depth) {
    const auto* cls = objects_.callee(id);
    const auto state = *objects_.get<PickleObject::Call>(id, "a tensorclass").state;
    const auto fields_elsewhere = objects_.field(state, "non_tensordict");
    for (const auto& [_, value] :
         objects_.get<PickleObject::Dict>(fields_elsewhere, "non_tensordict").items) {
      TORCH_CHECK_VALUE(objects_.get_if<std::monostate>(value) != nullptr,
                        "the pickle has a tensorclass with a field outside of its tensordict; "
                        "allowed is None");
    }
    return of_class({std::string(cls->module), std::string(cls->name)},
                    read(objects_.field(state, "tensordict"), depth + 1),
                    [&] { budget_.spend(kEntryBytes + cls->module.size() + cls->name.size()); });
  }

  static bool is_tensordict_call(const Global& callee) {
    return callee.module == "tensordict._reductions" &&
           (callee.name == "_make_td" || callee.name == "_rebuild_tensordict_files_consolidated");
  }

  TensorDict read_state(ObjectId state, int depth) {
    TensorDict td(read_sizes(objects_, objects_.field(state, "_batch_size")),
                  read_device(objects_.find(state, "_device")));
    if (const auto dim_names = objects_.find(state, "_td_dim_names")) {
      td.set_names(names(to_value(objects_, *dim_names, budget_)));
    }
    const auto entries = objects_.field(state, "_tensordict");
    for (const auto& [key, value] :
         objects_.get<PickleObject::Dict>(entries, "the entries").items) {
      const std::string name(objects_.text(key, "a key"));
      budget_.spend(kEntryBytes + name.size());
      td.set(name, read_entry(value, depth + 1));
    }
    if (says_locked(state)) {
      td.lock();
    }
    return td;
  }

  bool says_locked(ObjectId state) const {
    const auto locked = objects_.find(state, "_is_locked");
    const auto* flag = locked.has_value() ? objects_.get_if<bool>(*locked) : nullptr;
    return flag != nullptr && *flag;
  }

  Entry read_entry(ObjectId id, int depth) {
    check_depth(depth);
    const auto* callee = objects_.callee(id);
    if (callee != nullptr &&
        (is_tensordict_call(*callee) || is_persistent(objects_, id) || is_tensorclass(id))) {
      return read(id, depth);
    }
    if (tensors_.is_jagged(id)) {
      return tensors_.read_jagged(id);
    }
    if (callee != nullptr && callee->module == kOfTensordict) {
      return read_data(id, depth);
    }
    return tensors_.read(id);
  }

  // NonTensorData or NonTensorStack
  NonTensor read_data(ObjectId id, int depth) {
    check_depth(depth);
    const auto* callee = objects_.callee(id);
    const auto state = objects_.get<PickleObject::Call>(id, "non-tensor data").state;
    TORCH_CHECK_VALUE(callee != nullptr && callee->module == kOfTensordict && state.has_value(),
                      "the pickle has non-tensor data of another form");
    if (callee->name == "NonTensorStack") {
      check_stacked_along_first(*state);
      std::vector<NonTensor> members;
      for (const auto member :
           objects_.sequence(objects_.field(*state, "tensordicts"), "a stack")) {
        members.push_back(read_data(member, depth + 1));
      }
      return stack_data(members);
    }
    TORCH_CHECK_VALUE(callee->name == "NonTensorData",
                      "the pickle holds a tensordict.tensorclass.",
                      callee->name,
                      "; allowed are NonTensorData and NonTensorStack");
    return {to_value(
        objects_, objects_.field(objects_.field(*state, "non_tensordict"), "data"), budget_)};
  }

  void check_stacked_along_first(ObjectId state) const {
    const auto dim = objects_.get<std::int64_t>(objects_.field(state, "stack_dim"), "stack_dim");
    TORCH_CHECK_VALUE(dim == 0,
                      "non-tensor data stacked along dimension ",
                      dim,
                      " is not supported; allowed is 0");
  }

  LazyStackedTensorDict read_lazy_stack(ObjectId state, int depth) {
    std::vector<AnyTensorDict> members;
    for (const auto member : objects_.sequence(objects_.field(state, "tensordicts"), "a stack")) {
      members.push_back(read(member, depth + 1));
    }
    std::optional<std::string> name;
    if (const auto id = objects_.find(state, "_td_dim_name");
        id.has_value() && objects_.get_if<std::monostate>(*id) == nullptr) {
      name = objects_.text(*id, "a name");
    }
    LazyStackedTensorDict stack(
        std::move(members),
        objects_.get<std::int64_t>(objects_.field(state, "stack_dim"), "stack_dim"),
        std::move(name));
    if (says_locked(state)) {
      stack.lock();
    }
    return stack;
  }

  std::optional<at::Device> read_device(std::optional<ObjectId> id) {
    if (!id.has_value() || objects_.get_if<std::monostate>(*id) != nullptr) {
      return std::nullopt;
    }
    const auto* callee = objects_.callee(*id);
    TORCH_CHECK_VALUE(callee != nullptr && *callee == (Global{"torch", "device"}),
                      "a device is None or a torch.device");
    const Value name = to_value(objects_, objects_.arguments(*id, 1, 2, "a device")[0], budget_);
    return device(&name);
  }

  const PickledObjects& objects_;
  TensorReader tensors_;
  CopyBudget budget_;
  int files_ = 0;
};

}  // namespace

AnyTensorDict unpickle_tensordict(std::string_view bytes) {
  return read_untrusted("the pickle", [&] {
    const auto objects = read_pickle(bytes);
    return TensorDictReader(objects).read(objects.root());
  });
}

}  // namespace tdref
