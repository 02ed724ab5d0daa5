// SPDX-License-Identifier: BSD-3-Clause
// The operations of the protocol as calls of tdref: exactly the arguments that the step gives, and
// exactly what the call returns.
#include <tdref/consolidate.h>
#include <tdref/from_remote_init.h>
#include <tdref/gather_and_stack.h>
#include <tdref/getitem.h>
#include <tdref/init_remote.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <utility>
#include <variant>

#include "reference/options.h"
#include "reference/reference.h"
#include "reference/trees.h"

namespace tdconf::adapter {
namespace {

/// Reads integers and pairs [start, stop].
std::vector<tdref::Index> index_of(const Fields& args) {
  std::vector<tdref::Index> index;
  for (const json& element : args.required<std::vector<json>>("index")) {
    const std::string where = args.where() + ".index";
    if (!element.is_array()) {
      decode(element, where, std::get<std::int64_t>(index.emplace_back()));
      continue;
    }
    std::vector<std::int64_t> ends;
    decode(element, where, ends);
    if (ends.size() != 2) throw BadRequest(where + ": a range is [start, stop]");
    index.emplace_back(tdref::Slice{ends[0], ends[1]});
  }
  return index;
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

json Reference::getitem(const Fields& args, const std::optional<std::string>& as) {
  const tdref::TensorDictBase& td = td_of(args);
  const auto index = index_of(args);
  const std::string& name = needed("getitem", as);
  return show(*values_.insert_or_assign(name, tdref::getitem(td, index)).first->second);
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
    pipes_.send(*pipe, td_of(args), options);
  } else {
    tdref::send(groups_.world(), td_of(args), options);
  }
  return returns::none();
}

json Reference::recv(const Fields& args, const std::optional<std::string>& as) {
  tdref::RecvOptions options{.src = rank_of(args, "src"), .group_src = rank_of(args, "group_src")};
  set_transfer_options(args, options);
  if (const auto pipe = args.optional<std::string>("pipe")) {
    auto received = pipes_.recv(*pipe, td_of(args), options);
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
  return keep_works(as, tdref::irecv(groups_.world(), td_of(args), options));
}

json Reference::gather_and_stack(const Fields& args) {
  tdref::TensorDictBase& td = td_of(args);
  const tdref::GatherAndStackOptions options{.dst = needed_rank_of(args, "dst"),
                                             .group = group_of(args)};
  const tdref::TensorDictBase* result = tdref::gather_and_stack(groups_.world(), td, options);
  if (result == nullptr) return returns::none();
  if (result == &td) return returns::held(args.required<std::string>("td"));
  return show(*result);
}

json Reference::init_remote(const Fields& args) {
  tdref::InitRemoteOptions options{
      .dst = rank_of(args, "dst"), .group = group_of(args), .device = device_of(args)};
  set_option(args, "use_broadcast", options.use_broadcast);
  tdref::init_remote(groups_.world(), td_of(args), options);
  return returns::none();
}

json Reference::from_remote_init(const Fields& args, const std::optional<std::string>& as) {
  const std::string& name = needed("from_remote_init", as);
  tdref::FromRemoteInitOptions options{
      .src = rank_of(args, "src"), .group = group_of(args), .device = device_of(args)};
  set_option(args, "use_broadcast", options.use_broadcast);
  values_.insert_or_assign(name, tdref::from_remote_init(groups_.world(), options));
  return returns::held(name);
}

}  // namespace tdconf::adapter
