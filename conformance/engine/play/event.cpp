// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/event.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "engine/input/json_reader.h"
#include "engine/value/call.h"
#include "values/dtype.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

bool is_name_of_a_call(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

bool is_digest(const std::string& text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Reads an integer that must be there and may be null.
std::optional<std::int64_t> nullable_integer(JsonReader& reader, const char* field) {
  reader.any(field);
  return reader.optional_integer(field);
}

std::optional<int> small(const std::optional<std::int64_t>& number, const char* field) {
  if (!number) return std::nullopt;
  if (*number < 0 || *number > std::numeric_limits<int>::max()) {
    throw ProtocolError(concat("field `", field, "` of an event is ", *number));
  }
  return static_cast<int>(*number);
}

void read_elements(JsonReader& reader, Event& event) {
  event.dtype = reader.string("dtype");
  event.shape = reader.integers("shape");
  event.bytes = reader.integer("bytes");
  std::int64_t expected = 0;
  try {
    const auto size = static_cast<std::int64_t>(dtype_named(event.dtype).size_bytes);
    if (__builtin_mul_overflow(count_elements(event.shape), size, &expected)) {
      throw std::invalid_argument("a shape of more bytes than 64 bits can count");
    }
  } catch (const std::invalid_argument& error) {
    throw ProtocolError(concat("an event `", event.event, "`: ", error.what()));
  }
  if (event.bytes != expected) {
    throw ProtocolError(concat("an event `",
                               event.event,
                               "` has ",
                               event.bytes,
                               " bytes, but its dtype and shape make ",
                               expected));
  }
  reader.any("sha256");
  event.sha256 = reader.optional_string("sha256");
  if (event.sha256 && !is_digest(*event.sha256)) {
    throw ProtocolError(concat("field `sha256` of an event is `", *event.sha256, "`"));
  }
}

void read_call(JsonReader& reader, Event& event) {
  if (!is_name_of_a_call(event.event)) {
    throw ProtocolError(concat("an event is called `", event.event, "`"));
  }
  event.group = reader.string("group");
  event.peer = small(nullable_integer(reader, "peer"), "peer");
  if (!is_collective(event)) {
    event.tag = small(reader.integer("tag"), "tag");
    if (!event.peer) throw ProtocolError(concat("an event `", event.event, "` has no `peer`"));
  }
  read_elements(reader, event);
  event.done = reader.boolean("done");
  if (event.event == "recv" && !event.done && event.sha256) {
    throw ProtocolError("a `recv` that is not done has a `sha256`");
  }
}

Event decode_event(const json& value) {
  JsonReader reader(value, "an event");
  Event event;
  event.event = reader.string("event");
  if (is_call(event)) {
    read_call(reader, event);
  } else {
    event.bytes = reader.integer("bytes");
    if (event.bytes < 0) throw ProtocolError(concat("an event has ", event.bytes, " bytes"));
  }
  event.step = small(nullable_integer(reader, "step"), "step");
  reader.finish();
  return event;
}

}  // namespace

bool is_call(const Event& event) {
  return is_call(event.event);
}

bool is_collective(const Event& event) {
  return is_collective(event.event);
}

Transcript decode_transcript(const json& events) {
  if (!events.is_array()) throw ProtocolError("a transcript is not an array");
  Transcript transcript;
  for (const json& event : events) transcript.push_back(decode_event(event));
  return transcript;
}

json to_json(const Event& event) {
  json written{{"event", event.event}, {"bytes", event.bytes}, {"step", or_null(event.step)}};
  if (!is_call(event)) return written;
  written["group"] = event.group;
  written["peer"] = or_null(event.peer);
  if (event.tag) written["tag"] = *event.tag;
  written["dtype"] = event.dtype;
  written["shape"] = event.shape;
  written["sha256"] = or_null(event.sha256);
  written["done"] = event.done;
  return written;
}

}  // namespace tdconf
