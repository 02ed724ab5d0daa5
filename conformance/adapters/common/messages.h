// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/fields.h"

namespace tdconf::adapter {

inline constexpr std::int64_t kProtocolVersion = 1;
inline constexpr std::int64_t kMaxWorldSize = 1024;
inline constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::days(1);

struct Hello {};

struct GroupSpec {
  std::string name;
  std::string kind;
  std::vector<std::int64_t> ranks;
  std::string backend;
};

struct Join {
  std::int64_t rank = 0;
  std::int64_t world_size = 0;
  std::string store_path;
  std::vector<GroupSpec> groups;
  std::chrono::milliseconds timeout{0};
};

struct Step {
  std::string op;
  json args;
  std::optional<std::string> as;
};

struct Ping {};
struct Stacks {};
struct EndCase {};
struct Reset {};
struct Bye {};

struct Request {
  std::int64_t seq = 0;
  std::variant<Hello, Join, Step, Ping, Stacks, EndCase, Reset, Bye> body;
};

/// Reads the `seq` that the answer must repeat.
///
/// Errors  BadRequest: `message` is no object with an integer `seq`.
std::int64_t decode_seq(const json& message);

/// Decodes one request of the protocol.
///
/// Errors  BadRequest: unknown type, unknown or missing field, a field of another type, another
///         protocol version, or a number of `join` that is out of its range.
Request decode_request(const json& message);

/// What a step returns, as the `value` of `returned`.
namespace returns {

json none();
json integer(std::int64_t value);
/// A list of `count` pending operations, kept under the step's `as`.
json works(std::size_t count);
/// The very tensordict that the adapter holds under `name`.
json held(const std::string& name);
/// A list of tensordicts that the adapter holds under these names.
json held_list(const std::vector<std::string>& names);
json snapshot(json tree);
json tensor(json leaf);
json buffers(const std::vector<std::vector<std::int64_t>>& headers,
             const std::vector<std::string>& hex);

}  // namespace returns
}  // namespace tdconf::adapter
