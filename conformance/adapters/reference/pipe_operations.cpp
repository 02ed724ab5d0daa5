// SPDX-License-Identifier: BSD-3-Clause
// Pipes, and what the operations do that are given one in place of a rank.
#include <algorithm>
#include <utility>

#include "reference/reference.h"

namespace tdconf::adapter {

json Reference::open_pipe(const Fields& args, const std::optional<std::string>& as) {
  pipes_.open(needed("open_pipe", as),
              {.store = groups_.store(),
               .rank = groups_.rank(),
               .peer = args.required<std::int64_t>("peer"),
               .listen = args.required<bool>("listen"),
               .timeout = groups_.timeout()});
  return returns::none();
}

json Reference::close_pipe(const Fields& args) {
  pipes_.close(args.required<std::string>("pipe"));
  return returns::none();
}

json Reference::keep_received(const std::string& td,
                              const std::optional<std::string>& as,
                              tdref::AnyTensorDict received) {
  // A copy shares the memory, which tells whether it is a tensordict that this rank holds already.
  const auto is_received = [&](const tdref::AnyTensorDict& held) {
    return held->is_consolidated() &&
           held->consolidated().storage.is_alias_of(received->consolidated().storage);
  };
  if (is_received(values_.at(td))) return returns::held(td);
  const auto held =
      std::ranges::find_if(values_, [&](const auto& named) { return is_received(named.second); });
  if (held != values_.end()) return returns::held(held->first);
  const std::string name = as.value_or("unnamed " + std::to_string(values_.size()));
  values_.insert_or_assign(name, std::move(received));
  return returns::held(name);
}

}  // namespace tdconf::adapter
