// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/play/event.h"
#include "engine/value/snapshot.h"

namespace tdconf {

inline constexpr int kProtocolVersion = 1;

/// What an adapter says about itself.
struct Hello {
  std::string token;
  std::string name;
  std::string version;
  std::string language;
  std::int64_t pid = 0;
  std::set<std::string> capabilities;
};

struct Joined {};

/// The forms of `returned`.
struct NoValue {};
struct IntegerValue {
  std::int64_t value = 0;
};
struct WorksValue {
  std::int64_t count = 0;
};
struct HeldValue {
  std::string name;
};
/// A list of tensordicts.
struct HeldValues {
  std::vector<std::string> names;
};
struct BuffersValue {
  std::vector<std::vector<std::int64_t>> headers;
  std::vector<Bytes> buffers;
};
using Returned = std::variant<NoValue,
                              IntegerValue,
                              WorksValue,
                              HeldValue,
                              HeldValues,
                              Snapshot,
                              SeenTensor,
                              BuffersValue>;

struct Raised {
  std::string category;
  std::string exception;
  std::string message;
};

struct Unsupported {
  std::string what;
};

/// The adapter could not carry the request out.
struct AdapterError {
  std::string message;
};

struct Pong {
  /// The `seq` of the step in progress.
  std::optional<std::int64_t> step;
};

struct Stacks {
  std::string text;
  std::optional<Transcript> transcript;
};

struct Ended {
  std::int64_t values = 0;
  std::int64_t works = 0;
  std::optional<Transcript> transcript;
};

struct Done {};

struct Spawned {
  std::int64_t pid = 0;
};

using Answer = std::variant<Hello,
                            Joined,
                            Returned,
                            Raised,
                            Unsupported,
                            AdapterError,
                            Pong,
                            Stacks,
                            Ended,
                            Done,
                            Spawned>;

/// Decodes the answer to a request of type `request`.
///
/// Errors  ProtocolError: an answer that this request cannot have, unknown or missing fields.
Answer decode_answer(const nlohmann::json& message, const std::string& request);

/// Says in a few words what an adapter answered, e.g. `returned 5`.
std::string describe(const Answer& answer);

}  // namespace tdconf
