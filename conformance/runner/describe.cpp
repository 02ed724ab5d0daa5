// SPDX-License-Identifier: BSD-3-Clause
#include "runner/describe.h"

#include "engine/input/json_reader.h"

namespace tdconf {
namespace {

using nlohmann::json;

json name_or_null(const std::string& name) {
  return name.empty() ? json(nullptr) : json(name);
}

json describe_id(const StepId& id) {
  return {id.rank, id.index};
}

json describe_roles(const std::map<int, std::string>& roles) {
  json by_rank = json::object();
  for (const auto& [rank, role] : roles) by_rank[std::to_string(rank)] = role;
  return by_rank;
}

/// The value that the step must show, whatever the words in which the case says so; else null.
json describe_equals(const Step& step) {
  if (step.expect.equals) return tree_to_json(*step.expect.equals);
  if (step.expect.unchanged) return tree_to_json(*step.made);
  const auto* leaf = std::get_if<TensorLeaf>(&step.receives);
  const bool shows_it = step.op == "c10d_recv" || step.op == "c10d_result";
  return leaf != nullptr && shows_it ? tensor_to_json(*leaf) : json(nullptr);
}

json describe_step(const Step& step) {
  json after = json::array();
  for (const StepId& id : step.after) after.push_back(describe_id(id));
  const std::optional<StepId>& blocks = step.expect.blocks;
  return {{"op", step.op},
          {"args", step.args},
          {"as", name_or_null(step.as)},
          {"label", name_or_null(step.label)},
          {"after", after},
          {"blocks", blocks ? describe_id(*blocks) : json(nullptr)},
          {"expect", step.expect_document},
          {"equals", describe_equals(step)}};
}

json describe_programs(const std::vector<std::vector<Step>>& programs) {
  json list = json::array();
  for (const std::vector<Step>& program : programs) {
    json& steps = list.emplace_back(json::array());
    for (const Step& step : program) steps.push_back(describe_step(step));
  }
  return list;
}

json describe_messages(const std::optional<std::vector<Message>>& messages) {
  if (!messages) return nullptr;
  json list = json::array();
  for (const Message& message : *messages) {
    list.push_back({{"from", message.from},
                    {"to", message.to},
                    {"group", message.group},
                    {"tag", message.tag},
                    {"dtype", message.dtype->name},
                    {"bytes", or_null(message.bytes)},
                    {"sha256", or_null(message.sha256)},
                    {"key", message.key}});
  }
  return list;
}

/// A call of which nothing but its name is said is its name.
json describe_call(const ExpectedCall& call) {
  json said = json::object();
  if (call.dtype != nullptr) said["dtype"] = call.dtype->name;
  if (call.bytes) said["bytes"] = *call.bytes;
  if (call.root) said["root"] = *call.root;
  if (call.group) said["group"] = *call.group;
  return said.empty() ? json(call.name) : json{{call.name, said}};
}

json describe_calls(const std::optional<std::vector<ExpectedCall>>& calls) {
  if (!calls) return nullptr;
  json list = json::array();
  for (const ExpectedCall& call : *calls) list.push_back(describe_call(call));
  return list;
}

/// The three keys, each null when the case leaves it out.
json describe_transcripts(const std::map<int, ExpectedTranscript>& transcripts) {
  if (transcripts.empty()) return nullptr;
  json by_rank = json::object();
  for (const auto& [rank, expected] : transcripts) {
    by_rank[std::to_string(rank)] = {{"calls", describe_calls(expected.calls)},
                                     {"pickles", or_null(expected.pickles)},
                                     {"consolidations", or_null(expected.consolidations)}};
  }
  return by_rank;
}

json describe_document(const Case& c) {
  json document = c.canonical;
  document.erase("name");
  return document;
}

}  // namespace

json describe(const Case& c) {
  return {{"name", c.name},
          {"id", c.id},
          {"axes", c.axes},
          {"clauses", c.clauses},
          {"level", to_string(c.level)},
          {"says", c.says},
          {"broken_by", or_null(c.broken_by)},
          {"notes", or_null(c.notes)},
          {"world", c.world},
          {"groups", to_json(c.groups)},
          {"roles", describe_roles(c.roles)},
          {"deadline_s", std::chrono::duration<double>(c.deadline).count()},
          {"slow", or_null(c.slow)},
          {"file", *c.where.file},
          {"line", c.where.line},
          {"document", describe_document(c)},
          {"programs", describe_programs(c.programs)},
          {"messages", describe_messages(c.messages)},
          {"transcript", describe_transcripts(c.transcripts)}};
}

}  // namespace tdconf
