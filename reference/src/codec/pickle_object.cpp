// SPDX-License-Identifier: BSD-3-Clause
#include "codec/pickle_object.h"

#include <c10/util/Exception.h>

namespace tdref {

void PickledObjects::check(bool condition, const char* what) {
  TORCH_CHECK_VALUE(condition, "the pickle has another form than expected for ", what);
}

const std::vector<ObjectId>& PickledObjects::sequence(ObjectId id, const char* what) const {
  if (const auto* list = get_if<PickleObject::List>(id)) {
    return list->items;
  }
  return get<PickleObject::Tuple>(id, what).items;
}

std::optional<ObjectId> PickledObjects::find(ObjectId dict, std::string_view key) const {
  std::optional<ObjectId> found;
  for (const auto& [name, item] : get<PickleObject::Dict>(dict, "a dict").items) {
    if (const auto* name_text = get_if<PickleObject::Text>(name);
        name_text != nullptr && name_text->utf8 == key) {
      found = item;
    }
  }
  return found;
}

ObjectId PickledObjects::field(ObjectId dict, std::string_view key) const {
  const auto item = find(dict, key);
  TORCH_CHECK_VALUE(item.has_value(), "the pickle lacks the field '", key, "'");
  return *item;
}

const PickleObject::Global* PickledObjects::callee(ObjectId id) const {
  const auto* call = get_if<PickleObject::Call>(id);
  return call == nullptr ? nullptr : get_if<PickleObject::Global>(call->callable);
}

const std::vector<ObjectId>& PickledObjects::arguments(ObjectId call,
                                                       std::size_t least,
                                                       std::size_t most,
                                                       const char* what) const {
  const auto id = get<PickleObject::Call>(call, what).arguments;
  const auto& arguments = get<PickleObject::Tuple>(id, what).items;
  check(least <= arguments.size() && arguments.size() <= most, what);
  return arguments;
}

}  // namespace tdref
