// SPDX-License-Identifier: BSD-3-Clause
#include "common/messages.h"

#include <utility>

namespace tdconf::adapter {
namespace {

std::vector<std::string> with_envelope(std::vector<std::string> names) {
  names.insert(names.end(), {"seq", "type"});
  return names;
}

Hello decode_hello(const json& message) {
  const Fields fields(message, "hello", with_envelope({"protocol"}));
  const auto protocol = fields.required<std::int64_t>("protocol");
  if (protocol != kProtocolVersion) {
    throw BadRequest("hello.protocol: this adapter speaks version " +
                     std::to_string(kProtocolVersion) + ", got " + std::to_string(protocol));
  }
  return {};
}

/// The limits that a number has, both of them allowed.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::int64_t decode_within(const Fields& fields, const std::string& key, const Range& range) {
  const auto number = fields.required<std::int64_t>(key);
  if (number < range.first || number > range.last) {
    throw BadRequest(fields.where() + '.' + key + ": expected " + std::to_string(range.first) +
                     " to " + std::to_string(range.last) + ", got " + std::to_string(number));
  }
  return number;
}

GroupSpec decode_group(const json& group, const std::string& where) {
  const Fields fields(group, where, {"name", "kind", "ranks", "backend"});
  GroupSpec spec{.name = fields.required<std::string>("name"),
                 .kind = fields.required<std::string>("kind"),
                 .ranks = fields.required<std::vector<std::int64_t>>("ranks"),
                 .backend = fields.required<std::string>("backend")};
  if (spec.kind != "default" && spec.kind != "subgroup" && spec.kind != "standalone") {
    throw BadRequest(where + ".kind: expected default, subgroup or standalone, got " + spec.kind);
  }
  return spec;
}

std::string decode_store(const json& store) {
  const Fields fields(store, "join.store", {"kind", "path"});
  const auto kind = fields.required<std::string>("kind");
  if (kind != "file") throw BadRequest("join.store.kind: expected file, got " + kind);
  return fields.required<std::string>("path");
}

Join decode_join(const json& message) {
  const Fields fields(
      message, "join", with_envelope({"rank", "world_size", "store", "groups", "timeout_ms"}));
  const auto world_size = decode_within(fields, "world_size", {.first = 1, .last = kMaxWorldSize});
  const Range timeouts{.first = 1, .last = kMaxTimeout.count()};
  Join join{.rank = decode_within(fields, "rank", {.first = 0, .last = world_size - 1}),
            .world_size = world_size,
            .store_path = decode_store(fields.required<json>("store")),
            .groups = {},
            .timeout = std::chrono::milliseconds(decode_within(fields, "timeout_ms", timeouts))};
  const auto groups = fields.required<std::vector<json>>("groups");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    join.groups.push_back(decode_group(groups[i], "join.groups[" + std::to_string(i) + ']'));
  }
  return join;
}

Step decode_step(const json& message) {
  const Fields fields(message, "step", with_envelope({"op", "args", "as"}));
  return {.op = fields.required<std::string>("op"),
          .args = fields.required<json>("args"),
          .as = fields.optional<std::string>("as")};
}

template <typename T>
T decode_bare(const json& message, const std::string& type) {
  const Fields fields(message, type, with_envelope({}));
  return {};
}

}  // namespace

std::int64_t decode_seq(const json& message) {
  std::int64_t seq = 0;
  if (!message.is_object() || !message.contains("seq")) {
    throw BadRequest("a request needs a field `seq`");
  }
  decode(message["seq"], "request.seq", seq);
  return seq;
}

Request decode_request(const json& message) {
  Request request{.seq = decode_seq(message), .body = Ping{}};
  if (!message.contains("type")) throw BadRequest("request: field `type` is missing");
  std::string type;
  decode(message["type"], "request.type", type);
  if (type == "hello") {
    request.body = decode_hello(message);
  } else if (type == "join") {
    request.body = decode_join(message);
  } else if (type == "step") {
    request.body = decode_step(message);
  } else if (type == "ping") {
    request.body = decode_bare<Ping>(message, type);
  } else if (type == "stacks") {
    request.body = decode_bare<Stacks>(message, type);
  } else if (type == "end_case") {
    request.body = decode_bare<EndCase>(message, type);
  } else if (type == "reset") {
    request.body = decode_bare<Reset>(message, type);
  } else if (type == "bye") {
    request.body = decode_bare<Bye>(message, type);
  } else {
    throw BadRequest("request.type: unknown type `" + type + '`');
  }
  return request;
}

namespace returns {

json none() {
  return {{"kind", "none"}};
}

json integer(std::int64_t value) {
  return {{"kind", "int"}, {"int", value}};
}

json works(std::size_t count) {
  return {{"kind", "works"}, {"works", count}};
}

json held(const std::string& name) {
  return {{"kind", "value"}, {"name", name}};
}

json held_list(const std::vector<std::string>& names) {
  return {{"kind", "values"}, {"names", names}};
}

json snapshot(json tree) {
  return {{"kind", "snapshot"}, {"snapshot", std::move(tree)}};
}

json tensor(json leaf) {
  return {{"kind", "tensor"}, {"tensor", std::move(leaf)}};
}

json buffers(const std::vector<std::vector<std::int64_t>>& headers,
             const std::vector<std::string>& hex) {
  return {{"kind", "buffers"}, {"headers", headers}, {"buffers", hex}};
}

}  // namespace returns
}  // namespace tdconf::adapter
