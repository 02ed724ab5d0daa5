// SPDX-License-Identifier: BSD-3-Clause
#include "reference/reference.h"

#include <utility>

namespace tdconf::adapter {
namespace {

using Args = std::vector<std::string>;

Args with(Args args, const Args& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

const std::vector<std::string> kFeatures{
    "kind:tensordict",  "kind:lazy_stack",    "kind:non_tensor",  "kind:tensorclass",
    "kind:persistent",  "leaf:requires_grad", "leaf:sparse_coo",  "leaf:jagged",
    "leaf:meta",        "leaf:parameter",     "leaf:memmap",      "leaf:subclass",
    "leaf:transposed",  "leaf:expanded",      "group:default",    "group:subgroup",
    "group:standalone", "backend:gloo",       "backend:cpu:gloo", "backend:undefined"};

const Args kTransferArgs{"td", "group", "init_tag", "pseudo_rand", "consolidated"};
const Args kSendArgs = with(kTransferArgs, {"dst", "group_dst"});
const Args kRecvArgs = with(kTransferArgs, {"src", "group_src"});

}  // namespace

Player Reference::player() {
  const Args isend_args = with(kSendArgs, {"return_early"});
  const Args irecv_args = with(kRecvArgs, {"return_premature"});
  const Args gather_args{"td", "dst", "group"};
  const Args scatter_args{"td", "src", "tensordicts", "group", "device"};
  const Args remote_args{"device", "use_broadcast"};
  const Args all_reduce_args{"td", "op", "group", "async_op", "bucket_bytes"};
  const Args reduce_args = with(all_reduce_args, {"dst", "return_premature"});
  Player player{
      .name = "reference",
      .version = TDCONF_VERSION,
      .features = kFeatures,
      .operations =
          {{"make", operation(this, &Reference::make, {"name", "tree"})},
           {"snapshot", operation(this, &Reference::snapshot, {"td"})},
           {"consolidate", operation(this, &Reference::consolidate, {"td"})},
           {"getitem", operation(this, &Reference::getitem, {"td", "index"})},
           {"wait", pending_.wait_operation()},
           {"send", operation(this, &Reference::send, with(kSendArgs, {"pipe"}))},
           {"recv", operation(this, &Reference::recv, with(kRecvArgs, {"pipe"}))},
           {"isend", operation(this, &Reference::isend, isend_args)},
           {"irecv", operation(this, &Reference::irecv, irecv_args)},
           {"open_pipe", operation(this, &Reference::open_pipe, {"peer", "listen"})},
           {"close_pipe", operation(this, &Reference::close_pipe, {"pipe"})},
           {"gather_and_stack", operation(this, &Reference::gather_and_stack, gather_args)},
           {"broadcast", operation(this, &Reference::broadcast, {"td", "src", "group", "device"})},
           {"scatter", operation(this, &Reference::scatter, scatter_args)},
           {"all_gather", operation(this, &Reference::all_gather, {"td", "group"})},
           {"all_reduce", operation(this, &Reference::all_reduce, all_reduce_args)},
           {"reduce", operation(this, &Reference::reduce, reduce_args)},
           {"init_remote",
            operation(this, &Reference::init_remote, with(gather_args, remote_args))},
           {"from_remote_init",
            operation(this, &Reference::from_remote_init, with({"src", "group"}, remote_args))}},
      .join =
          [this](const Join& join) {
            files_.lie_beside(join.store_path);
            groups_.join(join);
          },
      .leftovers =
          [this] {
            return Leftovers{values_.size(), pending_.unfinished()};
          },
      .reset =
          [this] {
            pending_.clear();
            pipes_.clear();
            values_.clear();
            shown_.clear();
            files_.remove();
            groups_.reset();
          },
      .transcript = transcript_,
  };
  if (!Pipes::are_built()) {
    player.operations.erase("open_pipe");
    player.operations.erase("close_pipe");
  }
  for (auto& [name, operation] : player.operations) {
    operation = noted_events_.observed(std::move(operation));
  }
  return player;
}

tdref::TensorDictBase& Reference::td_of(const Fields& args) {
  return *value_named(args, "td", args.required<std::string>("td"));
}

tdref::AnyTensorDict& Reference::value_named(const Fields& args,
                                             const std::string& key,
                                             const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw BadRequest(args.where() + '.' + key + ": no value is called " + name);
  }
  return found->second;
}

std::optional<tdref::Group> Reference::group_of(const Fields& args) const {
  const auto name = args.optional<std::string>("group");
  if (!name) return std::nullopt;
  return groups_.named(name);
}

}  // namespace tdconf::adapter
