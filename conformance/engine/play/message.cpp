// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/message.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/case/categories.h"
#include "engine/input/json_reader.h"
#include "values/hex.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

/// Which answers each request can have, as the table in the protocol lists them.
const std::map<std::string, std::vector<std::string>> kAnswersTo{
    {"hello", {"hello", "error"}},
    {"join", {"joined", "raised", "unsupported", "error"}},
    {"step", {"returned", "raised", "unsupported", "error"}},
    {"ping", {"pong", "error"}},
    {"stacks", {"stacks", "error"}},
    {"end_case", {"ended", "error"}},
    {"reset", {"done", "error"}},
    {"bye", {"done", "error"}},
    {"spawn", {"spawned", "error"}},
};

Hello decode_hello(JsonReader& reader) {
  const std::int64_t version = reader.integer("protocol");
  if (version != kProtocolVersion) {
    throw ProtocolError(
        concat("the adapter speaks protocol ", version, ", not ", kProtocolVersion));
  }
  Hello hello{reader.string("token"),
              reader.string("name"),
              reader.string("version"),
              reader.string("language"),
              reader.integer("pid"),
              {}};
  for (std::string& capability : reader.strings("capabilities")) {
    hello.capabilities.insert(std::move(capability));
  }
  return hello;
}

BuffersValue decode_buffers(JsonReader& reader) {
  BuffersValue value;
  try {
    value.headers = reader.array("headers").get<std::vector<std::vector<std::int64_t>>>();
    for (const std::string& hex : reader.strings("buffers"))
      value.buffers.push_back(decode_hex(hex));
  } catch (const json::exception&) {
    throw ProtocolError("field `headers` of a value is not rows of integers");
  } catch (const std::invalid_argument& error) {
    throw ProtocolError(concat("field `buffers` of a value: ", error.what()));
  }
  return value;
}

Returned decode_value(const json& message) {
  JsonReader reader(message, "a value");
  const std::string kind = reader.string("kind");
  Returned value;
  if (kind == "int") {
    value = IntegerValue{reader.integer("int")};
  } else if (kind == "works") {
    value = WorksValue{reader.integer("works")};
  } else if (kind == "value") {
    value = HeldValue{reader.string("name")};
  } else if (kind == "values") {
    value = HeldValues{reader.strings("names")};
  } else if (kind == "snapshot") {
    value = decode_snapshot(reader.any("snapshot"));
  } else if (kind == "tensor") {
    value = decode_tensor(reader.any("tensor"));
  } else if (kind == "buffers") {
    value = decode_buffers(reader);
  } else if (kind != "none") {
    throw ProtocolError(concat("a value has the unknown kind `", kind, "`"));
  }
  reader.finish();
  return value;
}

Raised decode_raised(JsonReader& reader) {
  Raised raised{reader.string("category"), reader.string("exception"), reader.string("message")};
  if (std::ranges::count(raised_categories(), raised.category) == 0) {
    throw ProtocolError(concat("`raised` has the unknown category `", raised.category, "`"));
  }
  return raised;
}

std::optional<Transcript> decode_optional_transcript(JsonReader& reader) {
  const json* transcript = reader.optional("transcript");
  if (transcript == nullptr) return std::nullopt;
  return decode_transcript(*transcript);
}

Ended decode_ended(JsonReader& reader) {
  JsonReader leftovers(reader.any("leftovers"), "leftovers");
  Ended ended{leftovers.integer("values"), leftovers.integer("works"), {}};
  leftovers.finish();
  ended.transcript = decode_optional_transcript(reader);
  return ended;
}

Pong decode_pong(JsonReader& reader) {
  reader.any("step");
  return {reader.optional_integer("step")};
}

Stacks decode_stacks(JsonReader& reader) {
  Stacks stacks{reader.string("text"), {}};
  stacks.transcript = decode_optional_transcript(reader);
  return stacks;
}

Answer decode_body(JsonReader& reader, const std::string& type) {
  if (type == "hello") return decode_hello(reader);
  if (type == "joined") return Joined{};
  if (type == "returned") return decode_value(reader.any("value"));
  if (type == "raised") return decode_raised(reader);
  if (type == "unsupported") return Unsupported{reader.string("what")};
  if (type == "error") return AdapterError{reader.string("message")};
  if (type == "pong") return decode_pong(reader);
  if (type == "stacks") return decode_stacks(reader);
  if (type == "ended") return decode_ended(reader);
  if (type == "spawned") return Spawned{reader.integer("pid")};
  return Done{};
}

struct Describer {
  std::string operator()(const NoValue&) const { return "none"; }
  std::string operator()(const IntegerValue& value) const { return std::to_string(value.value); }
  std::string operator()(const WorksValue& value) const { return concat(value.count, " works"); }
  std::string operator()(const HeldValue& value) const {
    return concat("the value `", value.name, "`");
  }
  std::string operator()(const HeldValues& values) const {
    if (values.names.empty()) return "no values";
    return concat("the values `", join(values.names, "`, `"), "`");
  }
  std::string operator()(const Snapshot&) const { return "a snapshot"; }
  std::string operator()(const SeenTensor&) const { return "a tensor"; }
  std::string operator()(const BuffersValue&) const { return "buffers"; }

  std::string operator()(const Returned& value) const {
    return concat("returned ", std::visit(*this, value));
  }
  std::string operator()(const Raised& raised) const {
    return concat("raised ", raised.category, " (", raised.exception, ": ", raised.message, ")");
  }
  std::string operator()(const Unsupported& answer) const {
    return concat("unsupported ", answer.what);
  }
  std::string operator()(const AdapterError& error) const {
    return concat("error: ", error.message);
  }
  std::string operator()(const Hello&) const { return "hello"; }
  std::string operator()(const Joined&) const { return "joined"; }
  std::string operator()(const Pong&) const { return "pong"; }
  std::string operator()(const Stacks&) const { return "stacks"; }
  std::string operator()(const Ended&) const { return "ended"; }
  std::string operator()(const Done&) const { return "done"; }
  std::string operator()(const Spawned&) const { return "spawned"; }
};

}  // namespace

Answer decode_answer(const json& message, const std::string& request) {
  JsonReader reader(message, "an answer");
  const std::string type = reader.string("type");
  reader.integer("seq");
  const auto& allowed = kAnswersTo.at(request);
  if (std::ranges::find(allowed, type) == allowed.end()) {
    throw ProtocolError(
        concat("`", request, "` is answered by `", type, "`, allowed: ", join(allowed, ", ")));
  }
  Answer answer = decode_body(reader, type);
  reader.finish();
  return answer;
}

std::string describe(const Answer& answer) {
  return std::visit(Describer{}, answer);
}

}  // namespace tdconf
