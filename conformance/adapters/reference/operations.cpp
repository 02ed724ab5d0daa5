// SPDX-License-Identifier: BSD-3-Clause
// The operations of the protocol as calls of tdref: exactly the arguments that the step gives, and
// exactly what the call returns.
#include <tdref/consolidate.h>
#include <tdref/from_remote_init.h>
#include <tdref/gather_and_stack.h>
#include <tdref/init_remote.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <limits>
#include <utility>
#include <variant>

#include "reference/reference.h"
#include "reference/trees.h"

namespace tdconf::adapter {
namespace {

/// Replaces `option` by the argument, if there is one.
template <typename T>
void set_option(const Fields& args, const std::string& key, T& option) {
  if (auto value = args.optional<T>(key)) option = *value;
}

std::optional<int> rank_of(const Fields& args, const std::string& key) {
  const auto rank = args.optional<std::int64_t>(key);
  if (!rank) return std::nullopt;
  if (*rank < std::numeric_limits<int>::min() || *rank > std::numeric_limits<int>::max()) {
    throw BadRequest(args.where() + '.' + key + ": a rank has 32 bits");
  }
  return static_cast<int>(*rank);
}

}  // namespace

const std::string& Reference::needed(const char* op, const std::optional<std::string>& as) {
  if (!as) throw BadRequest(std::string(op) + ": the step needs `as`, the name of the result");
  return *as;
}

json Reference::show(const tdref::TensorDictBase& td) {
  shown_.emplace_back(td);
  return returns::snapshot(snapshot_tensordict(td));
}

json Reference::make(const Fields& args) {
  const auto name = args.required<std::string>("name");
  auto td = make_tensordict(args.required<json>("tree"), name, files_);
  return show(*values_.insert_or_assign(name, std::move(td)).first->second);
}

json Reference::snapshot(const Fields& args) {
  return show(td_of(args));
}

json Reference::consolidate(const Fields& args, const std::optional<std::string>& as) {
  const tdref::TensorDictBase& td = td_of(args);
  const std::string& name = needed("consolidate", as);
  return show(*values_.insert_or_assign(name, tdref::consolidate(td)).first->second);
}

template <typename Options>
void Reference::set_transfer_options(const Fields& args, Options& options) const {
  options.group = group_of(args);
  set_option(args, "init_tag", options.init_tag);
  set_option(args, "pseudo_rand", options.pseudo_rand);
  set_option(args, "consolidated", options.consolidated);
}

json Reference::send(const Fields& args) {
  tdref::SendOptions options{.dst = rank_of(args, "dst"), .group_dst = rank_of(args, "group_dst")};
  set_transfer_options(args, options);
  if (const auto pipe = args.optional<std::string>("pipe")) {
    tdref::send(pipes_.named(*pipe), td_of(args), options);
  } else {
    tdref::send(groups_.world(), td_of(args), options);
  }
  return returns::none();
}

json Reference::recv(const Fields& args, const std::optional<std::string>& as) {
  tdref::RecvOptions options{.src = rank_of(args, "src"), .group_src = rank_of(args, "group_src")};
  set_transfer_options(args, options);
  if (const auto pipe = args.optional<std::string>("pipe")) {
    auto received = tdref::recv(pipes_.named(*pipe), td_of(args), options);
    return keep_received(args.required<std::string>("td"), as, std::move(received));
  }
  const auto tag = tdref::recv(groups_.world(), td_of(args), options);
  return tag ? returns::integer(*tag) : returns::none();
}

json Reference::isend(const Fields& args, const std::optional<std::string>& as) {
  tdref::IsendOptions options{.dst = rank_of(args, "dst"), .group_dst = rank_of(args, "group_dst")};
  set_transfer_options(args, options);
  set_option(args, "return_early", options.return_early);
  auto result = tdref::isend(groups_.world(), td_of(args), options);
  if (auto* works = std::get_if<tdref::Works>(&result)) return pending_.keep(as, std::move(*works));
  if (const auto* tag = std::get_if<std::int64_t>(&result)) return returns::integer(*tag);
  return returns::none();
}

json Reference::irecv(const Fields& args, const std::optional<std::string>& as) {
  tdref::IrecvOptions options{.src = rank_of(args, "src"), .group_src = rank_of(args, "group_src")};
  set_transfer_options(args, options);
  set_option(args, "return_premature", options.return_premature);
  auto works = tdref::irecv(groups_.world(), td_of(args), options);
  return works ? pending_.keep(as, std::move(*works)) : returns::none();
}

json Reference::gather_and_stack(const Fields& args) {
  tdref::TensorDictBase& td = td_of(args);
  const auto dst = rank_of(args, "dst");
  if (!dst) throw BadRequest("gather_and_stack: field `dst` is missing");
  const tdref::GatherAndStackOptions options{.dst = *dst, .group = group_of(args)};
  const tdref::TensorDictBase* result = tdref::gather_and_stack(groups_.world(), td, options);
  if (result == nullptr) return returns::none();
  if (result == &td) return returns::held(args.required<std::string>("td"));
  return show(*result);
}

json Reference::init_remote(const Fields& args) {
  const tdref::InitRemoteOptions options{.dst = rank_of(args, "dst"), .group = group_of(args)};
  tdref::init_remote(groups_.world(), td_of(args), options);
  return returns::none();
}

json Reference::from_remote_init(const Fields& args, const std::optional<std::string>& as) {
  const std::string& name = needed("from_remote_init", as);
  const tdref::FromRemoteInitOptions options{.src = rank_of(args, "src"), .group = group_of(args)};
  values_.insert_or_assign(name, tdref::from_remote_init(groups_.world(), options));
  return returns::held(name);
}

}  // namespace tdconf::adapter
