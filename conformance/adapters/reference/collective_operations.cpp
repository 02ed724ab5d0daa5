// SPDX-License-Identifier: BSD-3-Clause
// The operations in which every rank of a group sends or gets consolidated tensordicts.
#include <tdref/all_gather.h>
#include <tdref/broadcast.h>
#include <tdref/scatter.h>

#include <utility>
#include <variant>

#include "reference/options.h"
#include "reference/reference.h"

namespace tdconf::adapter {

json Reference::broadcast(const Fields& args, const std::optional<std::string>& as) {
  const tdref::TensorDictBase& td = td_of(args);
  const std::string& name = needed("broadcast", as);
  const tdref::BroadcastOptions options{
      .src = needed_rank_of(args, "src"), .group = group_of(args), .device = device_of(args)};
  auto result = tdref::broadcast(groups_.world(), td, options);
  auto* received = std::get_if<tdref::AnyTensorDict>(&result);
  if (received == nullptr) return returns::held(args.required<std::string>("td"));
  values_.insert_or_assign(name, std::move(*received));
  return returns::held(name);
}

json Reference::scatter(const Fields& args, const std::optional<std::string>& as) {
  td_of(args);  // what it is called on is not used, but must be there
  const std::string& name = needed("scatter", as);
  tdref::ScatterOptions options{
      .src = needed_rank_of(args, "src"), .group = group_of(args), .device = device_of(args)};
  if (const auto names = args.optional<std::vector<std::string>>("tensordicts")) {
    options.tensordicts.emplace();
    for (const auto& element : *names)
      options.tensordicts->push_back(value_named(args, "tensordicts", element));
  }
  values_.insert_or_assign(name, tdref::scatter(groups_.world(), options));
  return returns::held(name);
}

json Reference::all_gather(const Fields& args, const std::optional<std::string>& as) {
  const std::string& name = needed("all_gather", as);
  auto results = tdref::all_gather(groups_.world(), td_of(args), {.group = group_of(args)});
  std::vector<std::string> names;
  for (auto& result : results) {
    names.push_back(name + '.' + std::to_string(names.size()));
    values_.insert_or_assign(names.back(), std::move(result));
  }
  return returns::held_list(names);
}

}  // namespace tdconf::adapter
