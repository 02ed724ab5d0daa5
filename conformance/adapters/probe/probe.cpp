// SPDX-License-Identifier: BSD-3-Clause
#include "probe/probe.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "common/tensors.h"
#include "values/hex.h"

namespace tdconf::adapter {
namespace {

/// Messages are plain bytes: a form is nothing that the probe could know.
at::Tensor tensor_of(const Fields& args) {
  const auto tree = args.required<json>("tensor");
  const std::string where = args.where() + ".tensor";
  at::Tensor tensor = make_tensor(tree, where);
  if (const std::string form = tree.value("form", "plain"); form != "plain") {
    throw Unsupported("leaf:" + form);
  }
  return tensor;
}

/// Refuses what the transport would take for a process that is late.
int peer_of(const Fields& args, const std::string& key, const tdref::Group& group) {
  const auto peer = args.required<std::int64_t>(key);
  if (peer < 0 || peer >= group.size()) {
    throw BadRequest(args.where() + '.' + key + ": expected a rank of the group, 0 to " +
                     std::to_string(group.size() - 1) + ", got " + std::to_string(peer));
  }
  return static_cast<int>(peer);
}

int tag_of(const Fields& args) {
  const auto tag = args.required<std::int64_t>("tag");
  if (tag < 0 || tag > std::numeric_limits<int>::max()) {
    throw BadRequest(args.where() + ".tag: expected 0 to 2^31 - 1, got " + std::to_string(tag));
  }
  return static_cast<int>(tag);
}

std::vector<std::int64_t> header_of(const at::Tensor& tensor) {
  const auto* numbers = tensor.const_data_ptr<std::int64_t>();
  return {numbers, numbers + tensor.numel()};
}

std::string hex_of(const at::Tensor& bytes) {
  return encode_hex({bytes.const_data_ptr<std::uint8_t>(), bytes.nbytes()});
}

}  // namespace

Player Probe::player() {
  const std::vector<std::string> send_args{"tensor", "dst", "tag", "group"};
  const std::vector<std::string> recv_args{"tensor", "src", "tag", "group"};
  return {
      .name = "probe",
      .version = TDCONF_VERSION,
      .features = {"group:default",
                   "group:subgroup",
                   "group:standalone",
                   "backend:gloo",
                   "backend:cpu:gloo",
                   "backend:undefined"},
      .operations = {{"wait", pending_.wait_operation()},
                     {"c10d_send", operation(this, &Probe::send, send_args)},
                     {"c10d_isend", operation(this, &Probe::isend, send_args)},
                     {"c10d_recv", operation(this, &Probe::recv, recv_args)},
                     {"c10d_irecv", operation(this, &Probe::irecv, recv_args)},
                     {"c10d_result", operation(this, &Probe::result, {"works"})},
                     {"c10d_gather_buffers",
                      operation(this, &Probe::gather_buffers, {"dst", "header", "group"})}},
      .join = [this](const Join& join) { groups_.join(join); },
      .leftovers = [this] { return Leftovers{.values = 0, .works = pending_.unfinished()}; },
      .reset =
          [this] {
            pending_.clear();
            groups_.reset();
          },
      .transcript = transcript_,
  };
}

tdref::Work Probe::post_send(const Fields& args) const {
  const at::Tensor tensor = tensor_of(args);
  const tdref::Group& group = groups_.named(args.optional<std::string>("group"));
  return group.isend(tensor, peer_of(args, "dst", group), tag_of(args));
}

tdref::Work Probe::post_recv(const Fields& args, const at::Tensor& tensor) const {
  const tdref::Group& group = groups_.named(args.optional<std::string>("group"));
  return group.irecv(tensor, peer_of(args, "src", group), tag_of(args));
}

json Probe::send(const Fields& args) {
  post_send(args).wait();
  return returns::none();
}

json Probe::isend(const Fields& args, const std::optional<std::string>& as) {
  return pending_.keep(as, {post_send(args)});
}

json Probe::recv(const Fields& args) {
  const at::Tensor tensor = tensor_of(args);
  post_recv(args, tensor).wait();
  return returns::tensor(snapshot_tensor(tensor));
}

json Probe::irecv(const Fields& args, const std::optional<std::string>& as) {
  const at::Tensor tensor = tensor_of(args);
  return pending_.keep(as, {post_recv(args, tensor)}, tensor);
}

json Probe::result(const Fields& args) {
  return returns::tensor(snapshot_tensor(pending_.result(args.required<std::string>("works"))));
}

json Probe::gather_buffers(const Fields& args) {
  const auto length = args.required<std::int64_t>("header");
  if (length < 1) throw BadRequest("c10d_gather_buffers.header: expected 1 or more");
  check_tensor_size({length}, sizeof(std::int64_t), "c10d_gather_buffers.header");
  const tdref::Group& group = groups_.named(args.optional<std::string>("group"));
  const int dst = peer_of(args, "dst", group);
  if (dst != group.group_rank()) {
    throw BadRequest("c10d_gather_buffers: only rank dst calls it; this is rank " +
                     std::to_string(group.group_rank()) + " of the group");
  }
  std::vector<std::vector<std::int64_t>> headers;
  std::int64_t largest = 0;
  for (const at::Tensor& header : group.all_gather(at::zeros({length}, at::kLong))) {
    headers.push_back(header_of(header));
    largest = std::max(largest, headers.back().back());
  }
  std::vector<std::string> buffers;
  for (const at::Tensor& buffer : group.gather(at::zeros({largest}, at::kByte), dst)) {
    buffers.push_back(hex_of(buffer));
  }
  return returns::buffers(headers, buffers);
}

}  // namespace tdconf::adapter
